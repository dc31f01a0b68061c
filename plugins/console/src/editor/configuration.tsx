import { useEffect, useRef, useState } from 'preact/hooks';
import type { StoredConfig } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { worker } from '../common/fleet-store.ts';
import { connectorAddress } from '../common/addresses.ts';
import { hints } from '../common/route.ts';
import { setUnfinished, type Unfinished } from '../common/unfinished.ts';
import type { PartProps } from '../connector/health.ts';
import { useAction } from '../kit/action.ts';
import { Button } from '../kit/button.tsx';
import { Async, useLoaded } from '../kit/loaded.tsx';
import { Problem } from '../kit/problem.tsx';
import { texts } from '../texts/editor.ts';
import { configDifference, type KeyChange } from './config-difference.ts';
import { firstDocument, keepDraft, keptDraft } from './config-draft.ts';
import { withheldTexts } from './config-form.ts';
import { configBody } from './config-document.ts';
import { withDeadLetters } from './dead-letter-options.ts';
import { DocumentEditor } from './document-editor.tsx';
import { FirstProblem, useProblems, type DocumentProblems } from './document-problems.tsx';
import { useDocument, useValidation } from './edited-document.ts';
import { MessagePreview } from './message-preview.tsx';
import { SaveDialog } from './save-dialog.tsx';

/** Shows the configuration of a connector, and lets the user change it. */
export function Configuration({ name, health }: PartProps) {
  const [isSaved, setSaved] = useState(false);
  const path = `/ui${connectorPath(name)}/config`;
  const loaded = useLoaded(name, () => request<StoredConfig>('GET', path));
  const { at, reload } = loaded;
  const done = (): void => {
    keepDraft(name, undefined);
    setUnfinished(placeOf(name), false);
  };
  const save = async (body: object): Promise<void> => {
    await request('PUT', path, body);
    done();
    setSaved(true);
    reload();
  };
  const again = (): void => {
    setSaved(false);
    reload();
  };
  // The key changes with each load, so that each load creates a new editor. The editor starts with the loaded
  // configuration and, if there are unsaved edits, with the draft.
  return (
    <Async of={loaded}>
      {(stored) => (
        <Editor
          key={at.getTime()}
          name={name}
          health={health}
          stored={stored}
          isSaved={isSaved}
          save={save}
          reload={again}
        />
      )}
    </Async>
  );
}

interface EditorProps extends PartProps {
  readonly stored: StoredConfig;
  readonly isSaved: boolean;
  readonly save: (body: object) => Promise<void>;
  readonly reload: () => void;
}

function Editor({ name, health, stored, isSaved, save, reload }: EditorProps) {
  const [first] = useState(() => firstDocument(stored, keptDraft(name)));
  const edited = useDocument(first.entries, first.text);
  const checked = useValidation(edited.entries, name);
  const problems = useProblems(edited, checked, true);
  const { problem, run } = useAction();
  const { entries, text } = edited;
  useEffect(() => {
    if (hints.value['add'] === 'dead-letters') edited.change(withDeadLetters(name, entries));
  }, []);
  const isReadOnly = worker.value?.readOnly === true;
  const secrets = new Set([...stored.secrets, ...(checked.validation?.secrets ?? [])]);
  const changes = configDifference(stored.entries, entries, secrets);
  const withheld = withheldTexts(checked.validation?.withheld);
  const isUnsaved = changes.length > 0 || edited.isWrong;
  useEffect(() => {
    keepDraft(name, isUnsaved ? { version: stored.version, base: stored.entries, entries, text } : undefined);
    setUnfinished(placeOf(name), isUnsaved);
  }, [name, stored, entries, text, isUnsaved]);
  return (
    <>
      {isReadOnly ? null : (
        <Saving
          name={name}
          changes={changes}
          problems={problems}
          isSaved={isSaved}
          isUnsaved={isUnsaved}
          isReady={!edited.isWrong && !checked.isStale}
          sentAlong={withheld === undefined ? '' : texts.sentAlong(...withheld)}
          effect={effectOf(health, checked.validation?.restarts ?? true)}
          save={() => run(() => save({ config: configBody(entries), version: stored.version }))}
          discard={() => edited.change(stored.entries)}
        />
      )}
      {hints.value['add'] === 'dead-letters' && isUnsaved ? <p role="status">{texts.deadLettersAdded}</p> : null}
      {first.isMoved && isUnsaved ? <p class="warning">{texts.moved}</p> : null}
      <Problem text={problem} />
      {problem === '' ? null : (
        <p>
          <Button onClick={reload}>{texts.reload}</Button>
        </p>
      )}
      {withheld === undefined || changes.length === 0 ? null : <p role="status">{texts.withheld(...withheld)}</p>}
      <DocumentEditor
        document={edited}
        checked={checked}
        stored={stored.entries}
        connector={name}
        order={stored.entries.map(([key]) => key)}
        mark={stored.mark}
        problems={problems}
        showsMissing
        isReadOnly={isReadOnly}
      />
      {health.type === 'sink' && !isReadOnly ? <MessagePreview entries={entries} connector={name} /> : null}
    </>
  );
}

interface SavingProps {
  readonly name: string;
  readonly changes: readonly KeyChange[];
  readonly problems: DocumentProblems;
  readonly isSaved: boolean;
  readonly isUnsaved: boolean;
  /** Whether the document has no syntax error and the worker has validated its current state. */
  readonly isReady: boolean;
  readonly sentAlong: string;
  readonly effect: string;
  readonly save: () => Promise<void>;
  readonly discard: () => void;
}

/** The buttons that save or discard changes, and the result of saving. */
function Saving(props: SavingProps) {
  const { name, changes, problems, isSaved, isUnsaved, isReady, sentAlong, effect, save, discard } = props;
  const [isAsking, setAsking] = useState(false);
  const outcome = useRef<HTMLSpanElement>(null);
  // The pressed button has disappeared with the dialog, so another element gets the focus.
  useEffect(() => {
    if (isSaved) outcome.current?.focus();
  }, [isSaved]);
  const confirm = (): void => {
    setAsking(false);
    void save();
  };
  return (
    <>
      <div class="bulk saving">
        <Button class="primary" disabled={changes.length === 0 || !isReady} onClick={() => setAsking(true)}>
          {texts.save}
        </Button>
        <Button disabled={!isUnsaved} onClick={discard}>
          {texts.discard}
        </Button>
        <span ref={outcome} role="status" class="quiet" tabIndex={-1}>
          {isUnsaved ? texts.unsaved(changes.length) : isSaved ? texts.saved : texts.noChanges}
        </span>
        <FirstProblem problems={problems} />
      </div>
      <SaveDialog
        name={name}
        changes={changes}
        sentAlong={sentAlong}
        effect={effect}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onSave={confirm}
      />
    </>
  );
}

function placeOf(name: string): Unfinished {
  return { address: connectorAddress(name, 'configuration'), title: texts.configurationOf(name) };
}

function effectOf({ verdict, tasks }: PartProps['health'], restarts: boolean): string {
  if (verdict === 'STOPPED') return texts.restartsStopped;
  if (verdict === 'PAUSED') return texts.restartsPaused;
  return restarts ? texts.restarts(tasks.length) : texts.restartsNothing;
}
