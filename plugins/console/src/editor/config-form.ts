import type { ConsoleValidation } from '../common/answers.ts';
import { texts } from '../texts/editor.ts';
import type { Entry } from './config-document.ts';

/** Lists the withheld keys and the reasons as two texts; `undefined` if no value was withheld. */
export function withheldTexts(
  withheld: ConsoleValidation['withheld'] | undefined,
): readonly [string, string] | undefined {
  if (withheld === undefined || withheld.keys.length === 0) return undefined;
  return [withheld.keys.join(', '), withheld.because.join(', ')];
}

/** The field of one key in the form. */
export interface Field {
  readonly key: string;
  readonly label: string;
  readonly type: string;
  readonly documentation: string;
  /** The default; `undefined` if the option has none. */
  readonly byDefault: string | undefined;
  readonly importance: string;
  readonly isRequired: boolean;
  readonly recommended: readonly string[];
  readonly errors: readonly string[];
}

export interface FieldGroup {
  readonly title: string;
  readonly fields: readonly Field[];
  /** Fields in a fold, which is open at first if one of them has an error. */
  readonly advanced: readonly Field[];
  readonly isOpen: boolean;
  readonly isAdvancedOpen: boolean;
}

interface Draft extends Field {
  readonly group: string;
  readonly order: number;
  readonly isAdvanced: boolean;
  readonly isSet: boolean;
}

/** The fields of these options, in this order, without options that the connector does not have. */
export function fieldsOf(
  validation: ConsoleValidation,
  entries: readonly Entry[],
  keys: readonly string[],
): readonly Field[] {
  const drafts = draftsOf(validation, new Set(entries.map(([key]) => key)), new Set(keys));
  return keys.flatMap((key) => drafts.find((draft) => draft.key === key) ?? []);
}

/**
 * Groups the fields: first required options, then the groups in their order, then keys that no plugin knows. `first`: the keys of the
 * initial document, which are never advanced. Keys that the user adds stay in their groups. `apart`: options that the page shows elsewhere.
 */
export function fieldGroups(
  validation: ConsoleValidation,
  entries: readonly Entry[],
  first: ReadonlySet<string>,
  apart: readonly string[] = [],
): readonly FieldGroup[] {
  const given = new Set(entries.map(([key]) => key));
  const all = draftsOf(validation, given, first);
  const drafts = all.filter(({ key }) => !apart.includes(key));
  const required = drafts.filter(({ isRequired }) => isRequired);
  const known = new Set([...all.map(({ key }) => key), ...validation.configs.map(({ value }) => value.name)]);
  const unknown = entries.flatMap(([key]) => (known.has(key) ? [] : [unknownField(key, validation.groups)]));
  const others = [...drafts.filter(({ isRequired }) => !isRequired), ...unknown];
  const titles = [...new Set([...validation.groups, ...others.map(({ group }) => group)])].filter(
    (title) => title !== texts.otherKeys,
  );
  return [
    groupOf(texts.requiredGroup, required, true),
    ...titles.map((title) => {
      const fields = others.filter(({ group }) => group === title).sort((a, b) => a.order - b.order);
      const isOpen = fields.some(
        ({ importance, isSet, errors }) => importance === 'HIGH' || isSet || errors.length > 0,
      );
      return groupOf(title, fields, isOpen);
    }),
    groupOf(
      texts.otherKeys,
      others.filter(({ group }) => group === texts.otherKeys),
      true,
    ),
  ].filter(({ fields, advanced }) => fields.length + advanced.length > 0);
}

/** The errors by key, in the order of the worker's response. */
export function errorsOf(validation: ConsoleValidation): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const { value } of validation.configs) {
    for (const error of value.errors) {
      const key = optionOf(value.name, error);
      found.set(key, [...new Set([...(found.get(key) ?? []), error])]);
    }
  }
  return found;
}

/** Moves the error of a failed password authentication from the user to the password, because that is what must be changed. */
function optionOf(key: string, error: string): string {
  return key === 'connection.user' && error.includes('password authentication failed') ? 'connection.password' : key;
}

function groupOf(title: string, fields: readonly Draft[], isOpen: boolean): FieldGroup {
  const advanced = fields.filter(({ isAdvanced }) => isAdvanced);
  const isAdvancedOpen = advanced.some(({ errors }) => errors.length > 0);
  // If all options of a group are advanced, they need no fold within the group.
  if (advanced.length === fields.length) return { title, fields, advanced: [], isOpen, isAdvancedOpen };
  return { title, fields: fields.filter((field) => !field.isAdvanced), advanced, isOpen, isAdvancedOpen };
}

/** One field for each key that is visible or has errors. */
function draftsOf(
  validation: ConsoleValidation,
  given: ReadonlySet<string>,
  first: ReadonlySet<string>,
): readonly Draft[] {
  const errors = errorsOf(validation);
  const drafts = new Map<string, Draft>();
  for (const { definition, value } of validation.configs) {
    const wrong = errors.get(value.name) ?? [];
    if (drafts.has(value.name) || (!value.visible && wrong.length === 0)) continue;
    const isSet = given.has(value.name);
    // Options that the worker sets itself (`converter.type`) are declared as required, but are valid without a value.
    const isNeeded = definition?.required === true && (definition.importance !== 'LOW' || wrong.length > 0);
    const { importance = 'MEDIUM', group, order = 0 } = definition ?? {};
    drafts.set(value.name, {
      key: value.name,
      label: definition?.display_name ?? value.name,
      type: definition?.type ?? 'STRING',
      documentation: definition?.documentation ?? '',
      byDefault: definition?.default_value ?? undefined,
      importance,
      isRequired: isNeeded,
      recommended: value.recommended_values.filter((each): each is string => each !== null),
      errors: wrong,
      group: definition === null ? texts.otherKeys : (group ?? texts.noGroup),
      order,
      isAdvanced: importance === 'LOW' && !isNeeded && !first.has(value.name),
      isSet,
    });
  }
  return [...drafts.values()];
}

/** Options of Connect that its validation does not list, and the group in which they are shown. */
const UNLISTED = { prefix: 'topic.creation.', group: 'Topic Creation' };

function unknownField(key: string, groups: readonly string[]): Draft {
  const isUnlisted = key.startsWith(UNLISTED.prefix) && groups.includes(UNLISTED.group);
  return {
    key,
    label: key,
    type: 'STRING',
    documentation: '',
    byDefault: undefined,
    importance: 'MEDIUM',
    isRequired: false,
    recommended: [],
    errors: [],
    group: isUnlisted ? UNLISTED.group : texts.otherKeys,
    order: 0,
    isAdvanced: false,
    isSet: true,
  };
}
