import { configDifference } from './config-difference.ts';
import { documentText, parseDocument, withoutKey, withValue, type Entry } from './config-document.ts';

/** What was typed and not saved. */
export interface ConfigDraft {
  /** Of what was stored when it was typed. */
  readonly version: string;
  readonly base: readonly Entry[];
  readonly entries: readonly Entry[];
  /** While it is shown as JSON. */
  readonly text: string | undefined;
}

/** What an editor begins with. */
export interface FirstDocument {
  readonly entries: readonly Entry[];
  readonly text: string | undefined;
  /** Something else was stored meanwhile: the changes of the draft stand on that. */
  readonly isMoved: boolean;
}

export function firstDocument(
  stored: { readonly entries: readonly Entry[]; readonly version: string },
  draft: ConfigDraft | undefined,
): FirstDocument {
  if (draft === undefined) return { entries: stored.entries, text: undefined, isMoved: false };
  if (draft.version === stored.version) return { entries: draft.entries, text: draft.text, isMoved: false };
  const entries = moved(draft, stored.entries);
  // A text that is not right yet cannot be moved.
  const isRight = draft.text !== undefined && parseDocument(draft.text).problems.length === 0;
  return { entries, text: isRight ? documentText(entries) : draft.text, isMoved: true };
}

function moved({ base, entries }: ConfigDraft, stored: readonly Entry[]): readonly Entry[] {
  const wanted = new Map(entries);
  const order = entries.map(([key]) => key);
  return configDifference(base, entries, new Set()).reduce<readonly Entry[]>(
    (result, { key, kind }) =>
      kind === 'removed' ? withoutKey(result, key) : withEntry(result, [key, wanted.get(key) ?? null], order),
    stored,
  );
}

function withEntry(entries: readonly Entry[], [key, value]: Entry, order: readonly string[]): readonly Entry[] {
  const placed = withValue(entries, key, value ?? '', order);
  return value === null ? placed.map((entry) => (entry[0] === key ? [key, null] : entry)) : placed;
}

const MAX_DRAFTS = 50;
const drafts = new Map<string, ConfigDraft>();

/** Of a connector. It is in the memory of the page alone, as it may have a secret. */
export function keptDraft(name: string): ConfigDraft | undefined {
  return drafts.get(name);
}

/** `undefined`: there is nothing to keep. Of more than 50 the one that was changed first is dropped. */
export function keepDraft(name: string, draft: ConfigDraft | undefined): void {
  drafts.delete(name);
  if (draft === undefined) return;
  drafts.set(name, draft);
  const [oldest] = drafts.keys();
  if (drafts.size > MAX_DRAFTS && oldest !== undefined) drafts.delete(oldest);
}
