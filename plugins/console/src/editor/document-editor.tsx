import { useState } from 'preact/hooks';
import type { ConsoleValidation } from '../common/answers.ts';
import { CopyButton } from '../common/copy-button.tsx';
import { lazy } from '../common/lazy.tsx';
import { Problem } from '../common/problem.tsx';
import { texts } from '../texts/editor.ts';
import { curlCommand, propertiesText, strimziText } from './config-copies.ts';
import { lineOf, valueIn, type DocumentProblem, type Entry } from './config-document.ts';
import { errorsOf } from './config-form.ts';
import { ConfigForm } from './config-form-view.tsx';
import { fieldId } from './config-field.tsx';
import type { Checked, EditedDocument } from './edited-document.ts';
import './editor.css';

const NOTHING_KNOWN: ConsoleValidation = {
  groups: [],
  configs: [],
  unknown: [],
  secrets: [],
  withheld: { keys: [], because: [] },
  restarts: true,
};
/** What the worker has not said yet. */
const SECRET_NAME = /passw|secret|token|credential|jaas|passphrase/i;

const JsonEditor = lazy(() => import('./json-editor.tsx').then((module) => module.JsonEditor));

export interface DocumentEditorProps {
  readonly document: EditedDocument;
  readonly checked: Checked;
  readonly stored: readonly Entry[];
  /** The places of keys that come and go. */
  readonly order: readonly string[];
  readonly mark: string;
  readonly showsMissing: boolean;
  readonly isReadOnly: boolean;
}

interface ShownProblem extends DocumentProblem {
  /** Of the form's field. */
  readonly key: string | undefined;
}

/** One document in two views: a form, and JSON. */
export function DocumentEditor(props: DocumentEditorProps) {
  const { document: edited, checked, isReadOnly } = props;
  const [target, setTarget] = useState<{ readonly at: number } | undefined>(undefined);
  const { text, parsed } = edited;
  const problems = problemsOf(props);
  // Of a class that nobody can check, the keys alone are shown.
  const shownValidation = checked.validation ?? (checked.problem === '' ? undefined : NOTHING_KNOWN);
  const isWrong = parsed !== undefined && parsed.problems.length > 0;
  const goTo = ({ key, from }: ShownProblem): void => {
    if (text === undefined && key !== undefined) openField(key);
    else setTarget({ at: from });
  };
  return (
    <section class="document">
      <div class="bulk">
        <div class="choice" role="group" aria-label={texts.views}>
          <button
            type="button"
            aria-pressed={text === undefined}
            disabled={isWrong}
            title={isWrong ? texts.notSwitched : undefined}
            onClick={edited.showForm}
          >
            {texts.form}
          </button>
          <button
            type="button"
            aria-pressed={text !== undefined}
            onClick={text === undefined ? edited.showJson : undefined}
          >
            {texts.json}
          </button>
        </div>
        <Copies entries={edited.entries} secrets={new Set(checked.validation?.secrets)} mark={props.mark} />
      </div>
      <div role="status" class="checked">
        <Outcome checked={checked} count={problems.length} isWrong={isWrong} />
      </div>
      <Problem text={checked.problem === '' ? '' : texts.notChecked(checked.problem)} />
      {checked.validation?.unknown.map(({ key, nearest }) => (
        <p key={key} class="warning">
          {texts.unknownOption(key, nearest)}
        </p>
      ))}
      {problems.length === 0 ? null : (
        <ul class="problems">
          {problems.map((each) => (
            <li key={`${each.key ?? ''} ${each.message}`}>
              <button
                type="button"
                class="link"
                onClick={() => {
                  goTo(each);
                }}
              >
                {problemText(each, text)}
              </button>
            </li>
          ))}
        </ul>
      )}
      {text === undefined ? (
        shownValidation && (
          <ConfigForm {...props} entries={edited.entries} validation={shownValidation} onChange={edited.change} />
        )
      ) : (
        <JsonEditor
          text={text}
          revision={edited.revision}
          problems={problems}
          isReadOnly={isReadOnly}
          target={target}
          onInput={edited.type}
        />
      )}
    </section>
  );
}

function Outcome({ checked, count, isWrong }: { checked: Checked; count: number; isWrong: boolean }) {
  if (count > 0) return <span class="problem">{texts.problems(count)}</span>;
  if (checked.problem !== '' || isWrong) return null;
  return <span class="quiet">{checked.isStale ? texts.checking : outcomeText(checked)}</span>;
}

function outcomeText({ validation }: Checked): string {
  const missing = validation === undefined ? 0 : errorsOf(validation).size;
  if (missing > 0) return texts.missing(missing);
  return (validation?.withheld.keys.length ?? 0) > 0 ? texts.validSoFar : texts.valid;
}

/** What is wrong with the text, else with the values. */
function problemsOf({ document: edited, checked, showsMissing }: DocumentEditorProps): readonly ShownProblem[] {
  const { parsed, entries } = edited;
  if (parsed !== undefined && parsed.problems.length > 0) {
    return parsed.problems.map((problem) => ({ ...problem, key: undefined }));
  }
  if (checked.validation === undefined) return [];
  return [...errorsOf(checked.validation)].flatMap(([key, errors]): readonly ShownProblem[] => {
    if (!showsMissing && valueIn(entries, key) === undefined) return [];
    const { from, to } = parsed?.places.get(key) ?? { from: 0, to: 1 };
    return errors.map((message) => ({ key, from, to, message }));
  });
}

function problemText({ key, from, message }: ShownProblem, text: string | undefined): string {
  const named = key === undefined || message.includes(key) ? message : texts.keyProblem(key, message);
  return text === undefined ? named : texts.lineProblem(lineOf(text, from), named);
}

/** Opens the folds around the field of a key, and gives it the focus. */
function openField(key: string): void {
  const control = document.getElementById(fieldId(key));
  for (let fold = control?.closest('details'); fold; fold = fold.parentElement?.closest('details')) fold.open = true;
  control?.focus();
}

interface CopiesProps {
  readonly entries: readonly Entry[];
  readonly secrets: ReadonlySet<string>;
  readonly mark: string;
}

/** Buttons that copy the configuration. A hidden value counts as a secret, whatever else is known of it. */
function Copies({ entries, secrets, mark }: CopiesProps) {
  const isHidden = ([key, value]: Entry): boolean =>
    value === mark || (SECRET_NAME.test(key) && value?.startsWith('${') !== true);
  const hidden = entries.filter(isHidden).map(([key]) => key);
  const copied = { entries, secrets: new Set([...secrets, ...hidden]) };
  return (
    <div class="bulk copies" role="group" aria-label={texts.copies} title={texts.copiesHint}>
      <CopyButton label={texts.copyCurl} text={curlCommand(location.origin, copied)} />
      <CopyButton label={texts.copyProperties} text={propertiesText(copied)} />
      <CopyButton label={texts.copyStrimzi} text={strimziText(copied)} />
    </div>
  );
}
