/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * schema.c - commands for other programs: their table, and what --format json prints, as a JSON Schema with a
 * definition for each command.
 *
 * A definition lists the shapes of the command's results.  Rows have every column of their shape and,
 * of numbers, perhaps how sure they are; of the values of a head some may be missing.
 */
#include "command/command.h"
#include "command/help/help.h"
#include "command/table_options.h"

#include <string.h>

static void add_string(struct text *to, const char *s)
{
	text_add_char(to, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			text_add_char(to, '\\');
		text_add_char(to, *s);
	}
	text_add_char(to, '"');
}

/* What a value of a column may be; null is unknown, or does not apply. */
static const char *value_schema(enum cell_type type)
{
	static const char *const schemas[] = {
	    [CELL_NONE] = "\"type\": \"null\"",
	    [CELL_TEXT] = "\"type\": [\"string\", \"null\"]",
	    [CELL_COUNT] = "\"type\": [\"integer\", \"null\"], \"minimum\": 0",
	    [CELL_BYTES] = "\"type\": [\"integer\", \"null\"], \"minimum\": 0",
	    [CELL_TIME] = "\"type\": [\"integer\", \"null\"], \"minimum\": 0",
	    [CELL_DELTA] = "\"type\": [\"integer\", \"null\"]",
	    [CELL_BYTES_DELTA] = "\"type\": [\"integer\", \"null\"]",
	    [CELL_PERCENT] = "\"type\": [\"number\", \"null\"], \"minimum\": 0",
	    [CELL_ADDRESS] = "\"type\": [\"string\", \"null\"], \"pattern\": \"^0x[0-9a-f]+$\"",
	    [CELL_FLAG] = "\"type\": [\"boolean\", \"null\"]",
	    [CELL_NUMBER] = "\"type\": [\"number\", \"string\", \"null\"]",
	};
	return schemas[type];
}

static void add_property(struct text *to, enum column_id column, bool first)
{
	const struct column_kind *kind = &column_kinds[column];
	text_addf(to, "%s\n\t\t\"%s\": {%s, \"description\": ", first ? "" : ",", kind->word,
	    value_schema(kind->type));
	add_string(to, kind->meaning);
	text_add(to, "}");
	if (cell_is_number(kind->type))
		text_addf(to, ",\n\t\t\"%s_certainty\": {\"$ref\": \"#/$defs/_certainty\"}", kind->word);
}

static void add_rows(struct text *to, const struct shape *shape)
{
	text_addf(to, "{\"type\": \"array\", \"items\": {\"type\": \"object\", "
	    "\"additionalProperties\": %s, \"required\": [", shape->fields ? "true" : "false");
	for (unsigned i = 0; i < shape->n_columns; i++)
		text_addf(to, "%s\"%s\"", i ? ", " : "", column_word(&shape->columns[i]));
	text_add(to, "], \"properties\": {");
	for (unsigned i = 0; i < shape->n_columns; i++)
		add_property(to, shape->columns[i].id, i == 0);
	text_add(to, "}}");
}

static void add_shape(struct text *to, const struct shape *shape, const char *command)
{
	text_add(to, "\n\t    ");
	if (!shape->n_head) {
		add_rows(to, shape);
	} else {
		text_addf(to, "{\"type\": \"object\", \"additionalProperties\": %s, \"properties\": {",
		    shape->more ? "true" : "false");
		for (unsigned i = 0; i < shape->n_head; i++)
			add_property(to, shape->head[i], i == 0);
		if (shape->n_columns) {
			text_add(to, ",\n\t\t\"fields\": ");
			add_rows(to, shape);
			text_add(to, "}}, \"required\": [\"fields\"");
		} else {
			text_add(to, "}, \"required\": [");
		}
		text_add(to, "]");
	}
	text_add(to, ", \"title\": ");
	struct text title = TEXT_INIT;
	text_addf(&title, "%s%s%s", command, shape->form ? " " : "", shape->form ? shape->form : "");
	add_string(to, title.s);
	text_release(&title);
	text_add(to, "}");
}

void command_write_schema(struct text *to)
{
	text_add(to, "{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
	    "\"title\": \"the results of cairn's commands with --format json\",\n"
	    "\"$defs\": {\n"
	    "\"_certainty\": {\"enum\": [");
	for (enum certainty c = EXACT; c <= UNKNOWN; c++)
		text_addf(to, "%s\"%s\"", c == EXACT ? "" : ", ", certainty_name(c));
	text_add(to, "]}");
	for (size_t i = 0; commands[i]; i++) {
		const struct command *c = commands[i];
		if (!c->shapes)
			continue;
		text_addf(to, ",\n\"%s\": {\"description\": ", c->name);
		add_string(to, c->summary);
		text_add(to, ", \"anyOf\": [");
		for (size_t k = 0; c->shapes[k]; k++) {
			text_add(to, k ? "," : "");
			add_shape(to, c->shapes[k], c->name);
		}
		text_add(to, "]}");
	}
	text_add(to, "\n}}\n");
}

/* --- the table ------------------------------------------------------------------------------------ */

static const char *argument_kind_name(enum argument_kind kind)
{
	static const char *const names[] = {
	    [ARG_END] = "", [ARG_OBJECT] = "object", [ARG_OBJECTS] = "objects", [ARG_VALUE] = "value",
	    [ARG_CLASS] = "class", [ARG_SET] = "set", [ARG_THREAD] = "thread", [ARG_REGEX] = "regex",
	    [ARG_FILE] = "file", [ARG_DUMP] = "dump", [ARG_DUMPS] = "dumps", [ARG_COMMAND] = "command",
	    [ARG_WORD] = "word", [ARG_WORDS] = "words", [ARG_REST] = "rest",
	};
	return names[kind];
}

static const char *option_kind_name(enum option_kind kind)
{
	static const char *const names[] = {
	    [OPT_FLAG] = "flag", [OPT_SAME] = "same", [OPT_CHOICE] = "choice", [OPT_COLUMN] = "column",
	    [OPT_CLASSES] = "classes", [OPT_WORDS] = "words", [OPT_SIZE] = "size", [OPT_COUNT] = "count",
	    [OPT_HASH] = "hash", [OPT_SET] = "set",
	};
	return names[kind];
}

static void add_member(struct text *to, const char *name, const char *value)
{
	text_addf(to, "\"%s\": ", name);
	add_string(to, value ? value : "");
	text_add(to, ", ");
}

static void add_arguments(struct text *to, const struct command *c)
{
	text_add(to, "\"arguments\": [");
	for (size_t i = 0; i < COMMAND_ARGUMENTS && c->arguments[i].kind != ARG_END; i++) {
		text_add(to, i ? ", {" : "{");
		add_member(to, "kind", argument_kind_name(c->arguments[i].kind));
		add_member(to, "name", c->arguments[i].name);
		text_addf(to, "\"optional\": %s}", c->arguments[i].optional ? "true" : "false");
	}
	text_add(to, "],\n");
}

static void add_options(struct text *to, const struct command *c)
{
	bool first = true;
	text_add(to, "\t\"options\": [");
	const struct option_spec *o;
	for (size_t i = 0; (o = command_option_at(c, i)); i++) {
		if (o->kind == OPT_SAME)
			continue;
		text_add(to, first ? "\n\t\t{" : ",\n\t\t{");
		first = false;
		add_member(to, "word", option_name(o));
		add_member(to, "kind", option_kind_name(o->kind));
		add_member(to, "value", o->value);
		text_add(to, "\"summary\": ");
		add_string(to, o->summary);
		text_add(to, "}");
	}
	text_add(to, "],\n");
}

static void add_flags(struct text *to, const struct command *c)
{
	static const struct {
		enum command_flag flag;
		const char *name;
	} names[] = {{COMMAND_NO_DUMP, "no dump"}, {COMMAND_COMPARES, "compares"}, {COMMAND_OF_SESSION, "session"},
	    {COMMAND_WRITES, "writes"}, {COMMAND_SWITCHES, "switches"}, {COMMAND_EARLY, "early"}};
	bool any = false;
	text_add(to, "\t\"flags\": [");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (!(c->flags & (unsigned)names[i].flag))
			continue;
		text_addf(to, "%s\"%s\"", any ? ", " : "", names[i].name);
		any = true;
	}
	text_add(to, "],\n");
}

static void add_examples(struct text *to, const struct command *c)
{
	text_add(to, "\t\"examples\": [");
	for (const struct example *e = c->examples; e->line; e++) {
		text_add(to, e > c->examples ? ",\n\t\t{" : "\n\t\t{");
		add_member(to, "on", help_sample(e->on) + strspn(help_sample(e->on), " "));
		text_add(to, "\"line\": ");
		add_string(to, e->line);
		text_add(to, "}");
	}
	text_add(to, "]");
}

void command_write_table(struct text *to)
{
	for (size_t i = 0; commands[i]; i++) {
		const struct command *c = commands[i];
		text_add(to, i ? ",\n{" : "[{");
		add_member(to, "name", c->name);
		add_member(to, "group", c->group);
		add_member(to, "instead", c->instead == DASH_NONE ? "" :
		    option_name(&(struct option_spec){.word = c->instead}));
		add_arguments(to, c);
		add_options(to, c);
		add_flags(to, c);
		add_examples(to, c);
		text_add(to, "}");
	}
	text_add(to, "]\n");
}
