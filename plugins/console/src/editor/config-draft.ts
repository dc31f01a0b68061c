import { configDifference } from './config-difference.ts';
import { documentText, parseDocument, withoutKey, withValue, type Entry } from './config-document.ts';

/** Unsaved edits of a configuration. */
export interface ConfigDraft {
  /** Version of the stored configuration `base` from which the edits started. */
  readonly version: string;
  readonly base: readonly Entry[];
  readonly entries: readonly Entry[];
  /** The JSON text; `undefined` while the draft is shown as a form. */
  readonly text: string | undefined;
}

/** The document that an editor opens with. */
export interface FirstDocument {
  readonly entries: readonly Entry[];
  readonly text: string | undefined;
  /** True if the stored configuration changed after the edits began, so that they were applied to the new configuration. */
  readonly isMoved: boolean;
}

export function firstDocument(
  stored: { readonly entries: readonly Entry[]; readonly version: string },
  draft: ConfigDraft | undefined,
): FirstDocument {
  if (draft === undefined) return { entries: stored.entries, text: undefined, isMoved: false };
  if (draft.version === stored.version) return { entries: draft.entries, text: draft.text, isMoved: false };
  const entries = moved(draft, stored.entries);
  // An invalid text stays unchanged, because it cannot be parsed and applied to the new configuration.
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

/** The draft of a connector. Drafts are kept only in the memory of the page, because they may contain secrets. */
export function keptDraft(name: string): ConfigDraft | undefined {
  return drafts.get(name);
}

/** Keeps a draft; `undefined` removes it. If there are more than 50 drafts, the oldest one is dropped. */
export function keepDraft(name: string, draft: ConfigDraft | undefined): void {
  drafts.delete(name);
  if (draft === undefined) return;
  drafts.set(name, draft);
  const [oldest] = drafts.keys();
  if (drafts.size > MAX_DRAFTS && oldest !== undefined) drafts.delete(oldest);
}
