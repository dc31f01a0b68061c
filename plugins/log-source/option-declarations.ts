import { REGEX_LIST } from './option-validators.ts';

/** Declares an optional string option without a default. */
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

/** Declares an option that is a list of regular expressions. */
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
