import { useEffect, useRef, useState } from 'preact/hooks';
import type { StoredConfig } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { worker } from '../common/fleet-store.ts';
import { Problem } from '../common/problem.tsx';
import { connectorAddress } from '../common/route.ts';
import { setUnfinished, type Unfinished } from '../common/unfinished.ts';
import type { PartProps } from '../connector/health.ts';
import { texts } from '../texts/editor.ts';
import { configDifference } from './config-difference.ts';
import { firstDocument, keepDraft, keptDraft } from './config-draft.ts';
import { withheldTexts } from './config-form.ts';
import { configBody } from './config-document.ts';
import { DocumentEditor } from './document-editor.tsx';
import { useDocument, useValidation } from './edited-document.ts';
import { MessagePreview } from './message-preview.tsx';
import { SaveDialog } from './save-dialog.tsx';

/** A connector's configuration, to be looked at and changed. */
export function Configuration({ name, health }: PartProps) {
  const [{ stored, loads }, setStored] = useState<{ stored?: StoredConfig; loads: number }>({ loads: 0 });
  const [problem, setProblem] = useState('');
  const [isSaved, setSaved] = useState(false);
  const load = async (): Promise<void> => {
    try {
      const answer = await request<StoredConfig>('GET', `/ui${connectorPath(name)}/config`);
      // An editor of its own each time: what was typed is done with, also where nothing that is shown has changed.
      setStored((last) => ({ stored: answer, loads: last.loads + 1 }));
      setProblem('');
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  const reload = async (afterSave: boolean): Promise<void> => {
    if (afterSave) {
      keepDraft(name, undefined);
      setUnfinished(placeOf(name), false);
    }
    await load();
    setSaved(afterSave);
  };
  useEffect(() => void load(), [name]);
  return (
    <>
      <Problem text={problem} />
      {stored === undefined ? (
        problem === '' && <p class="empty">{texts.loading}</p>
      ) : (
        <Editor key={loads} name={name} health={health} stored={stored} reload={reload} isSaved={isSaved} />
      )}
    </>
  );
}

interface EditorProps extends PartProps {
  readonly stored: StoredConfig;
  readonly isSaved: boolean;
  readonly reload: (afterSave: boolean) => Promise<void>;
}

function Editor({ name, health, stored, isSaved, reload }: EditorProps) {
  const [first] = useState(() => firstDocument(stored, keptDraft(name)));
  const edited = useDocument(first.entries, first.text);
  const checked = useValidation(edited.entries, name);
  const outcome = useRef<HTMLSpanElement>(null);
  const [isAsking, setAsking] = useState(false);
  const [problem, setProblem] = useState('');
  const isReadOnly = worker.value?.readOnly === true;
  const { entries, text } = edited;
  const secrets = new Set([...stored.secrets, ...(checked.validation?.secrets ?? [])]);
  const changes = configDifference(stored.entries, entries, secrets);
  const withheld = withheldTexts(checked.validation?.withheld);
  const isWrong = edited.parsed !== undefined && edited.parsed.problems.length > 0;
  const isUnsaved = changes.length > 0 || isWrong;
  useEffect(() => {
    keepDraft(name, isUnsaved ? { version: stored.version, base: stored.entries, entries, text } : undefined);
    setUnfinished(placeOf(name), isUnsaved);
  }, [name, stored, entries, text, isUnsaved]);
  // The button that was pressed is gone with the dialog.
  useEffect(() => {
    if (isSaved) outcome.current?.focus();
  }, [isSaved]);
  const save = async (): Promise<void> => {
    setAsking(false);
    try {
      const body = { config: configBody(entries), version: stored.version };
      await request('PUT', `/ui${connectorPath(name)}/config`, body);
      await reload(true);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <>
      {isReadOnly ? null : (
        <div class="bulk saving">
          <button
            type="button"
            class="primary"
            disabled={changes.length === 0 || isWrong || checked.isStale}
            onClick={() => {
              setProblem('');
              setAsking(true);
            }}
          >
            {texts.save}
          </button>
          <button
            type="button"
            disabled={!isUnsaved}
            onClick={() => {
              edited.change(stored.entries);
            }}
          >
            {texts.discard}
          </button>
          <span ref={outcome} role="status" class="quiet" tabIndex={-1}>
            {isUnsaved ? texts.unsaved(changes.length) : isSaved ? texts.saved : texts.noChanges}
          </span>
        </div>
      )}
      {first.isMoved && isUnsaved ? <p class="warning">{texts.moved}</p> : null}
      <Problem text={problem} />
      {problem === '' ? null : (
        <p>
          <button type="button" onClick={() => void reload(false)}>
            {texts.reload}
          </button>
        </p>
      )}
      {withheld === undefined || changes.length === 0 ? null : <p role="status">{texts.withheld(...withheld)}</p>}
      <DocumentEditor
        document={edited}
        checked={checked}
        stored={stored.entries}
        order={stored.entries.map(([key]) => key)}
        mark={stored.mark}
        showsMissing
        isReadOnly={isReadOnly}
      />
      {health.type === 'sink' && !isReadOnly ? <MessagePreview entries={entries} connector={name} /> : null}
      {isReadOnly ? null : (
        <SaveDialog
          name={name}
          changes={changes}
          sentAlong={withheld === undefined ? '' : texts.sentAlong(...withheld)}
          effect={effectOf(health, checked.validation?.restarts ?? true)}
          isOpen={isAsking}
          onClose={() => {
            setAsking(false);
          }}
          onSave={() => void save()}
        />
      )}
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
