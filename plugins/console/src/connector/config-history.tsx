import { useRef, useState } from 'preact/hooks';
import type { ConnectorChangeAnswer } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { DeletedFold } from '../common/deleted-fold.tsx';
import { worker } from '../common/fleet-store.ts';
import { usePolled } from '../common/polled.ts';
import { Problem } from '../common/problem.tsx';
import { texts } from '../texts/history.ts';
import { ConfigDifference } from './config-difference.tsx';
import './config-history.css';
import type { PartProps } from './health.ts';
import { RestoreDialog } from './restore-dialog.tsx';

/** What was changed about a connector, by whom, and the way back; `health` is undefined for one that was deleted. */
export function ConfigHistory({ name, health }: Pick<PartProps, 'name'> & Partial<PartProps>) {
  const [round, setRound] = useState(0);
  const [restoring, setRestoring] = useState<number | undefined>();
  const [done, setDone] = useState('');
  const opener = useRef<HTMLElement | null>(null);
  const report = useRef<HTMLParagraphElement>(null);
  const { value: changes, error } = usePolled(`${name} ${String(round)}`, () =>
    request<readonly ConnectorChangeAnswer[]>('GET', `${connectorPath(name)}/history`),
  );
  const end = (isDone: boolean): void => {
    if (isDone && restoring !== undefined) {
      setDone(texts.done(restoring));
      setRound(round + 1);
    }
    setRestoring(undefined);
    (isDone ? report : opener).current?.focus();
  };
  return (
    <>
      <section>
        <h2>{texts.history}</h2>
        <p class="quiet">{texts.hint}</p>
        <Problem text={error?.message ?? ''} />
        <p role="status" ref={report} tabIndex={-1}>
          {done}
        </p>
        {changes === undefined ? (
          error === undefined && <p class="empty">{texts.loading}</p>
        ) : changes.length === 0 ? (
          <p class="empty">{texts.none}</p>
        ) : (
          <ol class="changes">
            {changes.map((change) => (
              <ChangeItem
                key={change.n}
                change={change}
                onRestore={(button) => {
                  opener.current = button;
                  setRestoring(change.n);
                }}
              />
            ))}
          </ol>
        )}
      </section>
      <DeletedFold />
      {restoring === undefined ? null : (
        <RestoreDialog key={restoring} name={name} n={restoring} tasks={health?.tasks.length ?? 0} onEnd={end} />
      )}
    </>
  );
}

interface ChangeItemProps {
  readonly change: ConnectorChangeAnswer;
  readonly onRestore: (button: HTMLElement) => void;
}

function ChangeItem({ change, onRestore }: ChangeItemProps) {
  const { n, at, what, by, worker: madeBy, task, automatic, restoredFrom, difference } = change;
  return (
    <li>
      <div class="line">
        <strong>{texts.what[what]}</strong>
        {restoredFrom === undefined ? null : <span>{texts.restoredFrom(restoredFrom)}</span>}
        {task === undefined ? null : <span>{texts.ofTask(task)}</span>}
        <time dateTime={at}>{new Date(at).toLocaleString()}</time>
        <span class="quiet">{automatic === true ? texts.automatic : byText(by)}</span>
        {madeBy === null ? null : <span class="quiet">{texts.onWorker(madeBy)}</span>}
        <span class="quiet">{texts.change(n)}</span>
        {what === 'deleted' || worker.value?.readOnly !== false ? null : (
          <button
            type="button"
            aria-label={texts.restoreOf(n)}
            onClick={({ currentTarget }) => {
              onRestore(currentTarget);
            }}
          >
            {texts.restore}
          </button>
        )}
      </div>
      {difference === null && what === 'changed' ? <p class="quiet">{texts.notKnown}</p> : null}
      {difference === null || difference.length === 0 ? null : (
        <details open={what !== 'created'}>
          <summary>{texts.options(difference.length)}</summary>
          <ConfigDifference
            label={texts.differenceOf(n)}
            titles={[texts.before, texts.after]}
            difference={difference}
          />
        </details>
      )}
    </li>
  );
}

function byText(by: ConnectorChangeAnswer['by']): string {
  if (by === null) return texts.byUnknown;
  const { user, address, via } = by;
  const parts = [
    user === null ? undefined : texts.byUser(user),
    address === null ? undefined : texts.byAddress(address),
    via === undefined ? undefined : texts.via(via),
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? texts.byUnknown : parts.join(', ');
}
