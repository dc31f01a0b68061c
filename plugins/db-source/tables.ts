import { tableText, type Table } from '../../src/index.ts';

/** How a table is called in offsets, topic names and messages: its name alone in schema `public`, else with the schema. */
export function tableLabel(table: Table): string {
  return table.name.schema === 'public' ? table.name.name : tableText(table.name);
}
