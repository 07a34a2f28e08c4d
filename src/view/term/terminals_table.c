/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * terminals_table.c - what terminals can do, for hosts that do not know them.
 *
 * Made by tests/tools/terminals.py from what infocmp tells; names and notation are those of terminfo(5), but a
 * string stands here as its bytes.  NAME@ is a capability of the base that this one lacks.
 */
#include "view/term/terminals.h"

#include <stddef.h>

static const char *const of_xterm[] = {
	"am", "bce", "km", "mir", "msgr", "xenl", "colors#8", "cols#80", "it#8", "lines#24", "pairs#64",
	"acsc=``aaffggiijjkkllmmnnooppqqrrssttuuvvwwxxyyzz{{||}}~~", "bel=\007", "bold=\033[1m", "cbt=\033[Z",
	"civis=\033[?25l", "clear=\033[H\033[2J", "cnorm=\033[?12l\033[?25h", "cr=\015", "csr=\033[%i%p1%d;%p2%dr",
	"cub=\033[%p1%dD", "cub1=\010", "cud=\033[%p1%dB", "cud1=\012", "cuf=\033[%p1%dC", "cuf1=\033[C",
	"cup=\033[%i%p1%d;%p2%dH", "cuu=\033[%p1%dA", "cuu1=\033[A", "cvvis=\033[?12;25h", "dch=\033[%p1%dP",
	"dch1=\033[P", "dim=\033[2m", "dl=\033[%p1%dM", "dl1=\033[M", "ech=\033[%p1%dX", "ed=\033[J", "el=\033[K",
	"el1=\033[1K", "flash=\033[?5h$<100/>\033[?5l", "home=\033[H", "hpa=\033[%i%p1%dG", "ht=\011", "ich=\033[%p1%d@",
	"il=\033[%p1%dL", "il1=\033[L", "ind=\012", "indn=\033[%p1%dS", "kbs=\177", "kcbt=\033[Z", "kcub1=\033OD",
	"kcud1=\033OB", "kcuf1=\033OC", "kcuu1=\033OA", "kdch1=\033[3~", "kend=\033OF", "kf1=\033OP", "kf10=\033[21~",
	"kf11=\033[23~", "kf12=\033[24~", "kf2=\033OQ", "kf3=\033OR", "kf4=\033OS", "kf5=\033[15~", "kf6=\033[17~",
	"kf7=\033[18~", "kf8=\033[19~", "kf9=\033[20~", "khome=\033OH", "kich1=\033[2~", "kmous=\033[<", "knp=\033[6~",
	"kpp=\033[5~", "op=\033[39;49m", "rc=\0338", "rep=%p1%c\033[%p2%{1}%-%db", "rev=\033[7m", "ri=\033M",
	"rin=\033[%p1%dT", "ritm=\033[23m", "rmacs=\033(B", "rmcup=\033[?1049l\033[23;0;0t", "rmir=\033[4l",
	"rmkx=\033[?1l\033>", "rmso=\033[27m", "rmul=\033[24m", "sc=\0337", "setab=\033[4%p1%dm", "setaf=\033[3%p1%dm",
	"sgr=%?%p9%t\033(0%e\033(B%;\033[0%?%p6%t;1%;%?%p5%t;2%;%?%p2%t;4%;%?%p1%p3%|%t;7%;%?%p4%t;5%;%?%p7%t;8%;m",
	"sgr0=\033(B\033[m", "sitm=\033[3m", "smacs=\033(0", "smcup=\033[?1049h\033[22;0;0t", "smir=\033[4h",
	"smkx=\033[?1h\033=", "smso=\033[7m", "smul=\033[4m", "vpa=\033[%i%p1%dd", NULL
};

static const char *const of_xterm_256color[] = {
	"colors#256", "pairs#65536", "setab=\033[%?%p1%{8}%<%t4%p1%d%e%p1%{16}%<%t10%p1%{8}%-%d%e48;5;%p1%d%;m",
	"setaf=\033[%?%p1%{8}%<%t3%p1%d%e%p1%{16}%<%t9%p1%{8}%-%d%e38;5;%p1%d%;m", NULL
};

static const char *const of_alacritty[] = {
	"km@", NULL
};

static const char *const of_foot[] = {
	"flash=\033]555\033\134", "setab=\033[%?%p1%{8}%<%t4%p1%d%e%p1%{16}%<%t10%p1%{8}%-%d%e48:5:%p1%d%;m",
	"setaf=\033[%?%p1%{8}%<%t3%p1%d%e%p1%{16}%<%t9%p1%{8}%-%d%e38:5:%p1%d%;m", "km@", NULL
};

static const char *const of_st_256color[] = {
	"acsc=+C,D-A.B0E``aaffgghFiGjjkkllmmnnooppqqrrssttuuvvwwxxyyzz{{||}}~~", "cnorm=\033[?25h", "enacs=\033)0",
	"kend=\033[4~", "khome=\033[1~", "kmous=\033[M", "rmcup=\033[?1049l",
	"sgr=%?%p9%t\033(0%e\033(B%;\033[0%?%p6%t;1%;%?%p2%t;4%;%?%p1%p3%|%t;7%;%?%p4%t;5%;%?%p5%t;2%;%?%p7%t;8%;m",
	"sgr0=\033[0m", "smcup=\033[?1049h", "km@", "cvvis@", "kcbt@", "rep@", NULL
};

static const char *const of_xterm_kitty[] = {
	"pairs#32767", "acsc=++,,--..00``aaffgghhiijjkkllmmnnooppqqrrssttuuvvwwxxyyzz{{||}}~~",
	"cnorm=\033[?12h\033[?25h", "kmous=\033[M", "rmcup=\033[?1049l", "rmkx=\033[?1l",
	"sgr=%?%p9%t\033(0%e\033(B%;\033[0%?%p6%t;1%;%?%p2%t;4%;%?%p1%p3%|%t;7%;%?%p4%t;5%;%?%p7%t;8%;m",
	"smcup=\033[?1049h", "smkx=\033[?1h", "bce@", NULL
};

static const char *const of_rxvt[] = {
	"xon", "acsc=``aaffggjjkkllmmnnooppqqrrssttuuvvwwxxyyzz{{||}}~~", "cnorm=\033[?25h", "enacs=\033(B\033)0",
	"flash=\033[?5h\033[?5l", "kcub1=\033[D", "kcud1=\033[B", "kcuf1=\033[C", "kcuu1=\033[A", "kend=\033[8~",
	"kf1=\033[11~", "kf2=\033[12~", "kf3=\033[13~", "kf4=\033[14~", "khome=\033[7~", "kmous=\033[M", "rmacs=\017",
	"rmcup=\033[2J\033[?47l\0338", "rmkx=\033>",
	"sgr=\033[0%?%p6%t;1%;%?%p2%t;4%;%?%p1%p3%|%t;7%;%?%p4%t;5%;m%?%p9%t\016%e\017%;", "sgr0=\033[m\017",
	"smacs=\016", "smcup=\0337\033[?47h", "smkx=\033=", "cbt@", "cvvis@", "dch@", "dch1@", "dim@", "ech@", "indn@",
	"rep@", "rin@", "ritm@", "sitm@", NULL
};

static const char *const of_rxvt_unicode_256color[] = {
	"xon", "ncv#0", "pairs#32767", "acsc=+C,D-A.B0E``aaffgghFiGjjkkllmmnnooppqqrrssttuuvvwwxxyyzz{{||}}~~", "enacs=",
	"flash=\033[?5h$<20/>\033[?5l", "kcub1=\033[D", "kcud1=\033[B", "kcuf1=\033[C", "kcuu1=\033[A", "kend=\033[8~",
	"kf1=\033[11~", "kf2=\033[12~", "kf3=\033[13~", "kf4=\033[14~", "khome=\033[7~", "kmous=\033[M",
	"rmcup=\033[r\033[?1049l", "rmkx=\033>", "setab=\033[48;5;%p1%dm", "setaf=\033[38;5;%p1%dm",
	"sgr=\033[%?%p6%t;1%;%?%p2%t;4%;%?%p1%p3%|%t;7%;%?%p4%t;5%;%?%p7%t;8%;m%?%p9%t\033(0%e\033(B%;",
	"sgr0=\033[m\033(B", "smcup=\033[?1049h", "smkx=\033=", "cbt@", "dim@", "rep@", NULL
};

static const char *const of_screen[] = {
	"am", "km", "mir", "msgr", "xenl", "colors#8", "cols#80", "it#8", "lines#24", "pairs#64",
	"acsc=++,,--..00``aaffgghhiijjkkllmmnnooppqqrrssttuuvvwwxxyyzz{{||}}~~", "bel=\007", "bold=\033[1m", "cbt=\033[Z",
	"civis=\033[?25l", "clear=\033[H\033[J", "cnorm=\033[34h\033[?25h", "cr=\015", "csr=\033[%i%p1%d;%p2%dr",
	"cub=\033[%p1%dD", "cub1=\010", "cud=\033[%p1%dB", "cud1=\012", "cuf=\033[%p1%dC", "cuf1=\033[C",
	"cup=\033[%i%p1%d;%p2%dH", "cuu=\033[%p1%dA", "cuu1=\033M", "cvvis=\033[34l", "dch=\033[%p1%dP", "dch1=\033[P",
	"dim=\033[2m", "dl=\033[%p1%dM", "dl1=\033[M", "ed=\033[J", "el=\033[K", "el1=\033[1K", "enacs=\033(B\033)0",
	"flash=\033g", "home=\033[H", "hpa=\033[%i%p1%dG", "ht=\011", "ich=\033[%p1%d@", "il=\033[%p1%dL", "il1=\033[L",
	"ind=\012", "indn=\033[%p1%dS", "kbs=\177", "kcbt=\033[Z", "kcub1=\033OD", "kcud1=\033OB", "kcuf1=\033OC",
	"kcuu1=\033OA", "kdch1=\033[3~", "kend=\033[4~", "kf1=\033OP", "kf10=\033[21~", "kf11=\033[23~", "kf12=\033[24~",
	"kf2=\033OQ", "kf3=\033OR", "kf4=\033OS", "kf5=\033[15~", "kf6=\033[17~", "kf7=\033[18~", "kf8=\033[19~",
	"kf9=\033[20~", "khome=\033[1~", "kich1=\033[2~", "kmous=\033[M", "knp=\033[6~", "kpp=\033[5~", "op=\033[39;49m",
	"rc=\0338", "rev=\033[7m", "ri=\033M", "rin=\033[%p1%dT", "rmacs=\017", "rmcup=\033[?1049l", "rmir=\033[4l",
	"rmkx=\033[?1l\033>", "rmso=\033[23m", "rmul=\033[24m", "sc=\0337", "setab=\033[4%p1%dm", "setaf=\033[3%p1%dm",
	"sgr=\033[0%?%p6%t;1%;%?%p1%t;3%;%?%p2%t;4%;%?%p3%t;7%;%?%p4%t;5%;%?%p5%t;2%;m%?%p9%t\016%e\017%;",
	"sgr0=\033[m\017", "smacs=\016", "smcup=\033[?1049h", "smir=\033[4h", "smkx=\033[?1h\033=", "smso=\033[3m",
	"smul=\033[4m", "vpa=\033[%i%p1%dd", NULL
};

static const char *const of_screen_256color[] = {
	"colors#256", "pairs#65536", "setab=\033[%?%p1%{8}%<%t4%p1%d%e%p1%{16}%<%t10%p1%{8}%-%d%e48;5;%p1%d%;m",
	"setaf=\033[%?%p1%{8}%<%t3%p1%d%e%p1%{16}%<%t9%p1%{8}%-%d%e38;5;%p1%d%;m", NULL
};

static const char *const of_tmux[] = {
	"ritm=\033[23m", "rmso=\033[27m",
	"sgr=\033[0%?%p6%t;1%;%?%p2%t;4%;%?%p1%p3%|%t;7%;%?%p4%t;5%;%?%p5%t;2%;%?%p7%t;8%;m%?%p9%t\016%e\017%;",
	"sitm=\033[3m", "smso=\033[7m", NULL
};

static const char *const of_tmux_256color[] = {
	"colors#256", "pairs#65536", "setab=\033[%?%p1%{8}%<%t4%p1%d%e%p1%{16}%<%t10%p1%{8}%-%d%e48;5;%p1%d%;m",
	"setaf=\033[%?%p1%{8}%<%t3%p1%d%e%p1%{16}%<%t9%p1%{8}%-%d%e38;5;%p1%d%;m", NULL
};

static const char *const of_linux[] = {
	"am", "bce", "mir", "msgr", "xenl", "xon", "colors#8", "it#8", "ncv#18", "pairs#64",
	"acsc=++,,--..00``aaffgghhiijjkkllmmnnooppqqrrssttuuvvwwxxyyzz{{||}}~~", "bel=\007", "bold=\033[1m",
	"civis=\033[?25l\033[?1c", "clear=\033[H\033[J", "cnorm=\033[?25h\033[?0c", "cr=\015", "csr=\033[%i%p1%d;%p2%dr",
	"cub=\033[%p1%dD", "cub1=\010", "cud=\033[%p1%dB", "cud1=\012", "cuf=\033[%p1%dC", "cuf1=\033[C",
	"cup=\033[%i%p1%d;%p2%dH", "cuu=\033[%p1%dA", "cuu1=\033[A", "cvvis=\033[?25h\033[?8c", "dch=\033[%p1%dP",
	"dch1=\033[P", "dim=\033[2m", "dl=\033[%p1%dM", "dl1=\033[M", "ech=\033[%p1%dX", "ed=\033[J", "el=\033[K",
	"el1=\033[1K", "enacs=\033)0", "flash=\033[?5h$<200/>\033[?5l", "home=\033[H", "hpa=\033[%i%p1%dG", "ht=\011",
	"ich=\033[%p1%d@", "il=\033[%p1%dL", "il1=\033[L", "ind=\012", "kbs=\177", "kcbt=\033\011", "kcub1=\033[D",
	"kcud1=\033[B", "kcuf1=\033[C", "kcuu1=\033[A", "kdch1=\033[3~", "kend=\033[4~", "kf1=\033[[A", "kf10=\033[21~",
	"kf11=\033[23~", "kf12=\033[24~", "kf2=\033[[B", "kf3=\033[[C", "kf4=\033[[D", "kf5=\033[[E", "kf6=\033[17~",
	"kf7=\033[18~", "kf8=\033[19~", "kf9=\033[20~", "khome=\033[1~", "kich1=\033[2~", "kmous=\033[M", "knp=\033[6~",
	"kpp=\033[5~", "op=\033[39;49m", "rc=\0338", "rev=\033[7m", "ri=\033M", "rmacs=\017", "rmir=\033[4l",
	"rmso=\033[27m", "rmul=\033[24m", "sc=\0337", "setab=\033[4%p1%dm", "setaf=\033[3%p1%dm",
	"sgr=\033[0;10%?%p1%t;7%;%?%p2%t;4%;%?%p3%t;7%;%?%p4%t;5%;%?%p5%t;2%;%?%p6%t;1%;m%?%p9%t\016%e\017%;",
	"sgr0=\033[m\017", "smacs=\016", "smir=\033[4h", "smso=\033[7m", "smul=\033[4m", "vpa=\033[%i%p1%dd", NULL
};

static const char *const of_vt52[] = {
	"cols#80", "it#8", "lines#24", "acsc=+h.k0affggolpnqprrss", "bel=\007", "clear=\033H\033J", "cr=\015",
	"cub1=\033D", "cud1=\033B", "cuf1=\033C", "cup=\033Y%p1%' '%+%c%p2%' '%+%c", "cuu1=\033A", "ed=\033J", "el=\033K",
	"home=\033H", "ht=\011", "ind=\012", "kbs=\010", "kcub1=\033D", "kcud1=\033B", "kcuf1=\033C", "kcuu1=\033A",
	"kf1=\033P", "kf2=\033Q", "kf3=\033R", "kf5=\033?t", "kf6=\033?u", "kf7=\033?v", "kf8=\033?w", "kf9=\033?x",
	"ri=\033I", "rmacs=\033G", "rmkx=\033>", "smacs=\033F", "smkx=\033=", NULL
};

static const char *const of_vt100[] = {
	"am", "msgr", "xenl", "xon", "cols#80", "it#8", "lines#24",
	"acsc=``aaffggjjkkllmmnnooppqqrrssttuuvvwwxxyyzz{{||}}~~", "bel=\007", "bold=\033[1m$<2>",
	"clear=\033[H\033[J$<50>", "cr=\015", "csr=\033[%i%p1%d;%p2%dr", "cub=\033[%p1%dD", "cub1=\010",
	"cud=\033[%p1%dB", "cud1=\012", "cuf=\033[%p1%dC", "cuf1=\033[C$<2>", "cup=\033[%i%p1%d;%p2%dH$<5>",
	"cuu=\033[%p1%dA", "cuu1=\033[A$<2>", "ed=\033[J$<50>", "el=\033[K$<3>", "el1=\033[1K$<3>", "enacs=\033(B\033)0",
	"home=\033[H", "ht=\011", "ind=\012", "kbs=\010", "kcub1=\033OD", "kcud1=\033OB", "kcuf1=\033OC", "kcuu1=\033OA",
	"kf1=\033OP", "kf10=\033Ox", "kf2=\033OQ", "kf3=\033OR", "kf4=\033OS", "kf5=\033Ot", "kf6=\033Ou", "kf7=\033Ov",
	"kf8=\033Ol", "kf9=\033Ow", "rc=\0338", "rev=\033[7m$<2>", "ri=\033M$<5>", "rmacs=\017", "rmkx=\033[?1l\033>",
	"rmso=\033[m$<2>", "rmul=\033[m$<2>", "sc=\0337",
	"sgr=\033[0%?%p1%p6%|%t;1%;%?%p2%t;4%;%?%p1%p3%|%t;7%;%?%p4%t;5%;m%?%p9%t\016%e\017%;$<2>", "sgr0=\033[m\017$<2>",
	"smacs=\016", "smkx=\033[?1h\033=", "smso=\033[7m$<2>", "smul=\033[4m$<2>", NULL
};

static const char *const of_vt220[] = {
	"mir", "bold=\033[1m", "civis=\033[?25l", "clear=\033[H\033[J", "cnorm=\033[?25h", "cuf1=\033[C",
	"cup=\033[%i%p1%d;%p2%dH", "cuu1=\033[A", "dch=\033[%p1%dP", "dch1=\033[P", "dl=\033[%p1%dM", "dl1=\033[M",
	"ech=\033[%p1%dX", "ed=\033[J", "el=\033[K", "el1=\033[1K", "enacs=\033)0", "flash=\033[?5h$<200/>\033[?5l",
	"ich=\033[%p1%d@", "il=\033[%p1%dL", "il1=\033[L", "ind=\033D", "kcub1=\033[D", "kcud1=\033[B", "kcuf1=\033[C",
	"kcuu1=\033[A", "kdch1=\033[3~", "kf10=\033[21~", "kf11=\033[23~", "kf12=\033[24~", "kf6=\033[17~",
	"kf7=\033[18~", "kf8=\033[19~", "kf9=\033[20~", "kich1=\033[2~", "knp=\033[6~", "kpp=\033[5~", "rev=\033[7m",
	"ri=\033M", "rmacs=\033(B$<4>", "rmir=\033[4l", "rmso=\033[27m", "rmul=\033[24m",
	"sgr=\033[0%?%p6%t;1%;%?%p2%t;4%;%?%p4%t;5%;%?%p1%p3%|%t;7%;m%?%p9%t\033(0%e\033(B%;$<2>", "sgr0=\033[m\033(B",
	"smacs=\033(0$<2>", "smir=\033[4h", "smso=\033[7m", "smul=\033[4m", "kf5@", "rmkx@", "smkx@", NULL
};

static const char *const of_ansi[] = {
	"am", "mir", "msgr", "colors#8", "cols#80", "it#8", "lines#24", "ncv#3", "pairs#64",
	"acsc=+\020,\021-\030.\0310\333`\004a\261f\370g\361h\260j\331k\277l\332m\300n\305o~p\304q"
	    "\304r\304s_t\303u\264v\301w\302x\263y\363z\362{\343|\330}\234~\376",
	"bel=\007", "bold=\033[1m", "cbt=\033[Z", "clear=\033[H\033[J", "cr=\015", "cub=\033[%p1%dD", "cub1=\033[D",
	"cud=\033[%p1%dB", "cud1=\033[B", "cuf=\033[%p1%dC", "cuf1=\033[C", "cup=\033[%i%p1%d;%p2%dH", "cuu=\033[%p1%dA",
	"cuu1=\033[A", "dch=\033[%p1%dP", "dch1=\033[P", "dl=\033[%p1%dM", "dl1=\033[M", "ech=\033[%p1%dX", "ed=\033[J",
	"el=\033[K", "el1=\033[1K", "home=\033[H", "hpa=\033[%i%p1%dG", "ht=\033[I", "ich=\033[%p1%d@", "il=\033[%p1%dL",
	"il1=\033[L", "ind=\012", "indn=\033[%p1%dS", "kbs=\010", "kcbt=\033[Z", "kcub1=\033[D", "kcud1=\033[B",
	"kcuf1=\033[C", "kcuu1=\033[A", "khome=\033[H", "kich1=\033[L", "op=\033[39;49m", "rep=%p1%c\033[%p2%{1}%-%db",
	"rev=\033[7m", "rin=\033[%p1%dT", "rmacs=\033[10m", "rmso=\033[m", "rmul=\033[m", "setab=\033[4%p1%dm",
	"setaf=\033[3%p1%dm",
	"sgr=\033[0;10%?%p1%t;7%;%?%p2%t;4%;%?%p3%t;7%;%?%p4%t;5%;%?%p6%t;1%;%?%p7%t;8%;%?%p9%t;11%;m", "sgr0=\033[0;10m",
	"smacs=\033[11m", "smso=\033[7m", "smul=\033[4m", "vpa=\033[%i%p1%dd", NULL
};

static const char *const of_dumb[] = {
	"am", "cols#80", "bel=\007", "cr=\015", "cud1=\012", "ind=\012", NULL
};

const struct terminal_type terminal_types[] = {
	{"xterm", NULL, of_xterm},
	{"xterm-256color", "xterm", of_xterm_256color},
	{"alacritty", "xterm-256color", of_alacritty},
	{"foot", "xterm-256color", of_foot},
	{"st-256color", "xterm-256color", of_st_256color},
	{"xterm-kitty", "xterm-256color", of_xterm_kitty},
	{"rxvt", "xterm", of_rxvt},
	{"rxvt-unicode-256color", "xterm-256color", of_rxvt_unicode_256color},
	{"screen", NULL, of_screen},
	{"screen-256color", "screen", of_screen_256color},
	{"tmux", "screen", of_tmux},
	{"tmux-256color", "tmux", of_tmux_256color},
	{"linux", NULL, of_linux},
	{"vt52", NULL, of_vt52},
	{"vt100", NULL, of_vt100},
	{"vt220", "vt100", of_vt220},
	{"ansi", NULL, of_ansi},
	{"dumb", NULL, of_dumb},
	{NULL, NULL, NULL},
};
