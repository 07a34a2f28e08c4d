/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * schema.c - what --format json prints, as a JSON Schema: a definition for each command.
 *
 * A definition lists the shapes of the command's results.  Rows have every column of their shape and,
 * of numbers, perhaps how sure they are; of the values of a head some may be missing.
 */
#include "command/command.h"
#include "command/help/help.h"

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
