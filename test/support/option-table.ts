import type { OptionDeclaration, OptionDeclarations } from '../../src/config/option.ts';
import { defaultValue } from '../../src/config/parse.ts';
import { optionText } from '../../src/config/to-text.ts';

/**
 * Options as a Markdown table, `name | type | default | importance | meaning`, in the order of their declaration;
 * internal ones are left out.
 */
export function describeOptions(declarations: OptionDeclarations): string {
  const rows = Object.entries(declarations)
    .filter(([, option]) => option.internal !== true)
    .map(([name, option]) => row(name, option));
  return ['| Name | Type | Default | Importance | Meaning |', '|---|---|---|---|---|', ...rows].join('\n');
}

function row(name: string, option: OptionDeclaration): string {
  const cells = [
    `\`${name}\``,
    option.type.toLowerCase(),
    defaultCell(name, option),
    option.importance.toLowerCase(),
    meaning(option),
  ];
  return `| ${cells
    .map((cell) => cell.replace(/\|/g, '\\|'))
    .map(oneLine)
    .join(' | ')} |`;
}

function oneLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.length === 1 ? text : lines.filter((line) => line !== '').join(' ');
}

function defaultCell(name: string, option: OptionDeclaration): string {
  if (option.default === undefined) return 'required';
  const text = optionText(defaultValue(name, option), option.type);
  if (text === null) return 'none';
  return text === '' ? 'empty' : `\`${text}\``;
}

/** The documentation, and the allowed values where the validator prints a plain list or range of them. */
function meaning({ documentation, validator }: OptionDeclaration): string {
  const allowed = validator?.text.replace(/^\(case insensitive\) /, '') ?? '';
  const isList = allowed.startsWith('[') && allowed.endsWith(']');
  return isList ? `${documentation} Allowed: \`${allowed}\`.` : documentation;
}
