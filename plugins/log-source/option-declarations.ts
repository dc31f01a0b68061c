import { REGEX_LIST } from './option-validators.ts';

/** An option with a text, which is absent by default. */
export function text(group: string, displayName: string, documentation: string) {
  return {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation,
    group,
    width: 'MEDIUM',
    displayName,
  } as const;
}

/** An option with a list of regular expressions. */
export function list(group: string, displayName: string, documentation: string) {
  return {
    type: 'LIST',
    default: null,
    importance: 'MEDIUM',
    documentation,
    validator: REGEX_LIST,
    group,
    width: 'LONG',
    displayName,
  } as const;
}
