import type { OptionDeclarations } from './option.ts';

/** The place of an option in its group as responses show it: declared, else counted from 1; -1 without a group. */
export function orderInGroup(name: string, declarations: OptionDeclarations): number {
  const option = declarations[name];
  if (option?.order !== undefined) return option.order;
  if (option?.group === undefined) return -1;
  let place = 0;
  for (const [other, { group }] of Object.entries(declarations)) {
    if (group === option.group) place++;
    if (other === name) break;
  }
  return place;
}
