import { useState } from 'preact/hooks';
import { Button } from '../kit/button.tsx';
import { texts } from '../texts/editor.ts';
import { valueIn, type DocumentProblem } from './config-document.ts';
import { fieldId } from './config-field.tsx';
import { errorsOf } from './config-form.ts';
import type { Checked, EditedDocument } from './edited-document.ts';

export interface ShownProblem extends DocumentProblem {
  /** The key whose field in the form has the problem; `undefined` for syntax errors. */
  readonly key: string | undefined;
}

/** The problems of an edited document, and the way to them. */
export interface DocumentProblems {
  readonly list: readonly ShownProblem[];
  /** The place in the JSON text to which the user went last; `undefined` if there is none. */
  readonly target: { readonly at: number } | undefined;
  /** Moves the focus to the field of a problem or, in the JSON text, the cursor to its place. */
  readonly goTo: (problem: ShownProblem) => void;
}

/** `showsMissing`: whether errors of keys that are missing in the document count as problems. */
export function useProblems(document: EditedDocument, checked: Checked, showsMissing: boolean): DocumentProblems {
  const [target, setTarget] = useState<DocumentProblems['target']>(undefined);
  return {
    list: problemsOf(document, checked, showsMissing),
    target,
    goTo: ({ key, from }) => {
      if (document.text === undefined && key !== undefined) openField(key);
      else setTarget({ at: from });
    },
  };
}

/** The syntax errors of the text. If the text has none, the errors of the values. */
function problemsOf(
  { parsed, entries }: Pick<EditedDocument, 'parsed' | 'entries'>,
  { validation }: Pick<Checked, 'validation'>,
  showsMissing: boolean,
): readonly ShownProblem[] {
  if (parsed !== undefined && parsed.problems.length > 0) {
    return parsed.problems.map((problem) => ({ ...problem, key: undefined }));
  }
  if (validation === undefined) return [];
  return [...errorsOf(validation)].flatMap(([key, errors]): readonly ShownProblem[] => {
    if (!showsMissing && valueIn(entries, key) === undefined) return [];
    const { from, to } = parsed?.places.get(key) ?? { from: 0, to: 1 };
    return errors.map((message) => ({ key, from, to, message }));
  });
}

/** Opens the folds around the field of a key, and gives it the focus in the middle of the page, where no bar covers it. */
export function openField(key: string): void {
  const control = document.getElementById(fieldId(key));
  for (let fold = control?.closest('details'); fold; fold = fold.parentElement?.closest('details')) fold.open = true;
  control?.scrollIntoView({ block: 'center' });
  control?.focus({ preventScroll: true });
}

/** The number of problems as a button that goes to the first one; nothing if there is none. */
export function FirstProblem({ problems: { list, goTo } }: { readonly problems: DocumentProblems }) {
  const [first] = list;
  if (first === undefined) return null;
  return (
    <Button class="problem-count" onClick={() => goTo(first)}>
      {texts.goToFirst(list.length)}
    </Button>
  );
}
