import { useEffect } from 'preact/hooks';
import type { ConsoleValidation } from '../common/answers.ts';
import { CopyButton } from '../common/copy-button.tsx';
import { lazy } from '../common/lazy.tsx';
import { hints } from '../common/route.ts';
import { Button } from '../kit/button.tsx';
import { Menu } from '../kit/menu.tsx';
import { Problem } from '../kit/problem.tsx';
import { texts } from '../texts/editor.ts';
import { curlCommand, propertiesText, strimziText } from './config-copies.ts';
import { lineOf, type Entry } from './config-document.ts';
import { errorsOf } from './config-form.ts';
import { ConfigForm } from './config-form-view.tsx';
import { ConnectionCheck } from './connection-check.tsx';
import { openField, type DocumentProblems, type ShownProblem } from './document-problems.tsx';
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
  /** The connector whose stored secrets are used; `undefined` for a new connector. */
  readonly connector: string | undefined;
  /** The order in which new keys are inserted. */
  readonly order: readonly string[];
  readonly mark: string;
  readonly problems: DocumentProblems;
  /** Whether to show errors of keys that are missing in the document. */
  readonly showsMissing: boolean;
  readonly isReadOnly: boolean;
  /** Options that the page shows elsewhere. */
  readonly apart?: readonly string[];
}

/** Edits one document in two views, as a form and as JSON. */
export function DocumentEditor(props: DocumentEditorProps) {
  const { document: edited, checked, problems, isReadOnly } = props;
  const { text, entries, isWrong } = edited;
  // If the worker has not validated any state of the document, the form shows only the document's keys.
  const shownValidation = checked.validation ?? (checked.problem === '' ? undefined : NOTHING_KNOWN);
  const { focus = '' } = hints.value;
  const isShown = shownValidation !== undefined;
  useEffect(() => {
    if (isShown && focus !== '' && text === undefined) openField(focus);
  }, [isShown, focus]);
  return (
    <section class="document">
      <div class="bulk">
        <Views document={edited} />
        <Copies entries={entries} secrets={new Set(checked.validation?.secrets)} mark={props.mark} />
      </div>
      <div role="status" class="checked">
        <Outcome checked={checked} count={problems.list.length} isWrong={isWrong} />
      </div>
      {isReadOnly ? null : <ConnectionCheck entries={entries} checked={checked} connector={props.connector} />}
      <Problem text={checked.problem === '' ? '' : texts.notChecked(checked.problem)} />
      {checked.validation?.unknown.map(({ key, nearest }) => (
        <p key={key} class="warning">
          {texts.unknownOption(key, nearest)}
        </p>
      ))}
      <Problems problems={problems} text={text} />
      {text === undefined ? (
        shownValidation && (
          <ConfigForm {...props} entries={entries} validation={shownValidation} onChange={edited.change} />
        )
      ) : (
        <JsonEditor
          text={text}
          revision={edited.revision}
          problems={problems.list}
          isReadOnly={isReadOnly}
          target={problems.target}
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
  readonly problems: DocumentProblems;
  readonly text: string | undefined;
}

/** Lists the problems. Pressing a problem moves the cursor or the focus to its place. */
function Problems({ problems: { list, goTo }, text }: ProblemsProps) {
  if (list.length === 0) return null;
  return (
    <ul class="problems">
      {list.map((each) => (
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

function problemText({ key, from, message }: ShownProblem, text: string | undefined): string {
  const named = key === undefined || message.includes(key) ? message : texts.keyProblem(key, message);
  return text === undefined ? named : texts.lineProblem(lineOf(text, from), named);
}

interface CopiesProps {
  readonly entries: readonly Entry[];
  readonly secrets: ReadonlySet<string>;
  readonly mark: string;
}

/**
 * Buttons that copy the configuration. Values that the worker hides, and values of keys that match SECRET_NAME unless
 * they are references to a config provider, count as secrets.
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
