#compdef cairn
_arguments -s \
	'*--command=[run a command line and print its result]:command:(overview info histo ls x entries find strings dups props threads bt sites loaders duplicate-classes tree refs roots path paths heap about dom holders top size cut leaks waste collections offheap locks references finalizers threadlocals report dumps use open close tag diff growth trend path-history profile processes attach live sql assert export check help apropos alias history source save index redact bundle set sets note columns why quit)' \
	'*--file=[run the lines of a script (-\: standard input)]:FILE:_files' \
	'--batch[never open the screen]' \
	'--plain[a prompt for commands instead of the screen]' \
	'--format=[format of results (text)]:format:(text csv json jsonl md html)' \
	'--csv=[CSV marks texts like formulas (safe) or not]:csv:(safe raw)' \
	'--output=[file for the results (standard output)]:FILE:_files' \
	'--force[let -o, > and --keep replace a heap dump]' \
	'--top=[at most N rows of each result]:N:' \
	'--javacore=[the javacore of an OpenJ9 dump (found)]:FILE:_files' \
	'--exe=[the program that wrote a Go dump (found)]:FILE:_files' \
	'--index=[the index of the dump; written if missing]:FILE:_files' \
	'--no-index[read the dump and ignore all indexes]' \
	'--sizes=[shallow sizes of the VM (true) or of Eclipse MAT]:sizes:(true mat)' \
	'--dump=[heap number, in a file with several (the last)]:N:' \
	'--process=[dump a running VM or Go program into memory, and open it]:process:(PID NAME)' \
	'--yes[dump the process without asking]' \
	'--keep=[with a process\: keep its dump in a file, too]:FILE:_files' \
	'--gc[with a process\: a full collection first]' \
	'--live=[watch the class histogram of a running VM]:live:(PID NAME)' \
	'--progress=[progress on standard error]:progress:(auto always never)' \
	'--threads=[worker threads (the processors available)]:N:' \
	'--mem=[memory limit (512M, 2G); other data is in a file]:SIZE:' \
	'--spill=[folder for data beyond --mem]:spill:(DIR none)' \
	'--start=[the first page]:start:(overview histo heap leaks threads packages info growth)' \
	'--color=[colours of the screen]:color:(auto always never)' \
	'--theme=[colour theme]:theme:(auto dark light classic8 mono)' \
	'--ascii[ASCII characters only on the screen]' \
	'--no-mouse[clicks and the wheel are the terminal's]' \
	'--tour[a tour of the sample in two minutes]' \
	'--dump-config[write the default configuration]' \
	'--no-config[ignore the configuration]' \
	'--version[print the version]' \
	'--help[a summary of the options]' \
	'*:dump:_files'
