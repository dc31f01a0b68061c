import type { OptionDeclaration, OptionDeclarations } from '../../src/config/option.ts';
import { defaultValue } from '../../src/config/parse.ts';
import { optionText } from '../../src/config/to-text.ts';
import { wrapped } from './wrapped.ts';

/**
 * Length limit of a table cell. If the documentation of an option is longer, the sentences after the first one are in a
 * list below the table.
 */
export const CELL_LIMIT = 160;

/**
 * Returns options as a Markdown table with the columns `name | values | default | importance | meaning`, in the order
 * of their declaration, and a list of the sentences that do not fit into the table. Internal options are omitted.
 */
export function describeOptions(declarations: OptionDeclarations): string {
  const shown = Object.entries(declarations).filter(([, option]) => option.internal !== true);
  const details = shown.flatMap(([name, option]) => {
    const { rest } = divided(option.documentation);
    return rest === '' ? [] : [wrapped(`* \`${name}\`: ${rest}`, '  ')];
  });
  return [
    '| Name | Values | Default | Importance | Meaning |',
    '|---|---|---|---|---|',
    ...shown.map(([name, option]) => row(name, option)),
    ...(details.length === 0 ? [] : ['', ...details]),
  ].join('\n');
}

function row(name: string, option: OptionDeclaration): string {
  const cells = [
    `\`${name}\``,
    values(option),
    defaultCell(name, option),
    option.importance.toLowerCase(),
    divided(option.documentation).cell,
  ];
  return `| ${cells.map((cell) => cell.replace(/\|/g, '\\|')).join(' | ')} |`;
}

/** Returns the whole documentation as the cell if it fits, and otherwise its first sentence and the rest. */
function divided(documentation: string): { readonly cell: string; readonly rest: string } {
  const text = documentation.replace(/\s*\n\s*/g, ' ').trim();
  const [first = '', ...others] = text.split(/(?<=\.) /);
  if (text.length <= CELL_LIMIT || others.length === 0) return { cell: text, rest: '' };
  return { cell: `${first} More below.`, rest: others.join(' ') };
}

/** Returns the type, or the allowed values if the validator prints a plain list or range. */
function values({ type, validator }: OptionDeclaration): string {
  const typeName = type.toLowerCase();
  const text = validator?.text ?? '';
  const [, list] = /^(?:\(case insensitive\) )?\[(.*)\]$/.exec(text) ?? [];
  if (list === undefined) return typeName;
  const range = rangeText(list);
  if (range !== undefined) return `${typeName}, ${range}`;
  const choices = (list === list.toUpperCase() && text !== `[${list}]` ? list.toLowerCase() : list).split(/, */);
  const names = choices.map((choice) => `\`${choice}\``).join(', ');
  return type === 'LIST' ? `list of ${names}` : names;
}

/** Converts `1,...` to `at least 1`, `0,...,9` to `0 to 9`, and `-1, 1,...` to `-1 or at least 1`. */
function rangeText(list: string): string | undefined {
  const [, before, least = '', , most] = /^(?:(-?\d+), )?(-?\d+),(\.\.\.)(?:,(\d+))?$/.exec(list) ?? [];
  if (least === '') return undefined;
  const range = most === undefined ? `at least ${least}` : `${least} to ${most}`;
  return before === undefined ? range : `${before} or ${range}`;
}

function defaultCell(name: string, option: OptionDeclaration): string {
  if (option.default === undefined) return 'required';
  const text = optionText(defaultValue(name, option), option.type);
  if (text === null) {
    if (option.validator?.check(name, null) !== undefined) return 'required';
    return /\bDefault: |\(default\)/.test(option.documentation) ? 'see meaning' : 'none';
  }
  return text === '' ? 'empty' : `\`${text}\``;
}
