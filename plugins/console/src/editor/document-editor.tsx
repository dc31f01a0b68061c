import { useEffect, useState } from 'preact/hooks';
import type { ConsoleValidation } from '../common/answers.ts';
import { CopyButton } from '../common/copy-button.tsx';
import { lazy } from '../common/lazy.tsx';
import { hints } from '../common/route.ts';
import { Button } from '../kit/button.tsx';
import { Menu } from '../kit/menu.tsx';
import { Problem } from '../kit/problem.tsx';
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
/** Matches keys whose values count as secrets in copies, in addition to those that the worker declares as secret. */
const SECRET_NAME = /passw|secret|token|credential|jaas|passphrase/i;

const JsonEditor = lazy(() => import('./json-editor.tsx').then((module) => module.JsonEditor));

export interface DocumentEditorProps {
  readonly document: EditedDocument;
  readonly checked: Checked;
  readonly stored: readonly Entry[];
  /** The order in which new keys are inserted. */
  readonly order: readonly string[];
  readonly mark: string;
  readonly showsMissing: boolean;
  readonly isReadOnly: boolean;
}

interface ShownProblem extends DocumentProblem {
  /** The key whose field in the form has the problem; `undefined` for syntax errors. */
  readonly key: string | undefined;
}

/** Edits one document in two views, as a form and as JSON. */
export function DocumentEditor(props: DocumentEditorProps) {
  const { document: edited, checked, isReadOnly } = props;
  const [target, setTarget] = useState<{ readonly at: number } | undefined>(undefined);
  const { text, entries, isWrong } = edited;
  const problems = problemsOf(props);
  // If the worker could not validate the document, the form shows only the document's keys.
  const shownValidation = checked.validation ?? (checked.problem === '' ? undefined : NOTHING_KNOWN);
  const { focus = '' } = hints.value;
  const isShown = shownValidation !== undefined;
  useEffect(() => {
    if (isShown && focus !== '' && text === undefined) openField(focus);
  }, [isShown, focus]);
  const goTo = ({ key, from }: ShownProblem): void => {
    if (text === undefined && key !== undefined) openField(key);
    else setTarget({ at: from });
  };
  return (
    <section class="document">
      <div class="bulk">
        <Views document={edited} />
        <Copies entries={entries} secrets={new Set(checked.validation?.secrets)} mark={props.mark} />
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
      <Problems problems={problems} text={text} goTo={goTo} />
      {text === undefined ? (
        shownValidation && (
          <ConfigForm {...props} entries={entries} validation={shownValidation} onChange={edited.change} />
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

/** The switch between the form and JSON. An invalid text cannot be shown as a form. */
function Views({ document: { text, isWrong, showForm, showJson } }: { readonly document: EditedDocument }) {
  return (
    <div class="choice" role="group" aria-label={texts.views}>
      <Button
        aria-pressed={text === undefined}
        disabled={isWrong}
        title={isWrong ? texts.notSwitched : undefined}
        onClick={showForm}
      >
        {texts.form}
      </Button>
      <Button aria-pressed={text !== undefined} onClick={text === undefined ? showJson : undefined}>
        {texts.json}
      </Button>
    </div>
  );
}

interface ProblemsProps {
  readonly problems: readonly ShownProblem[];
  readonly text: string | undefined;
  readonly goTo: (problem: ShownProblem) => void;
}

/** Lists the problems. Pressing a problem moves the cursor or the focus to its place. */
function Problems({ problems, text, goTo }: ProblemsProps) {
  if (problems.length === 0) return null;
  return (
    <ul class="problems">
      {problems.map((each) => (
        <li key={`${each.key ?? ''} ${each.message}`}>
          <Button class="link" onClick={() => goTo(each)}>
            {problemText(each, text)}
          </Button>
        </li>
      ))}
    </ul>
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

/** The syntax errors of the text. If the text has none, the errors of the values. */
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

/**
 * Buttons that copy the configuration. Values that the worker hides, and values of keys that match SECRET_NAME, count
 * as secrets.
 */
function Copies({ entries, secrets, mark }: CopiesProps) {
  const isHidden = ([key, value]: Entry): boolean =>
    value === mark || (SECRET_NAME.test(key) && value?.startsWith('${') !== true);
  const hidden = entries.filter(isHidden).map(([key]) => key);
  const copied = { entries, secrets: new Set([...secrets, ...hidden]) };
  return (
    <div class="copies">
      <Menu title={texts.copyAs} label={texts.copies} staysOpen>
        <CopyButton label={texts.copyCurl} text={curlCommand(location.origin, copied)} />
        <CopyButton label={texts.copyProperties} text={propertiesText(copied)} />
        <CopyButton label={texts.copyStrimzi} text={strimziText(copied)} />
        <span class="quiet">{texts.copiesHint}</span>
      </Menu>
    </div>
  );
}
