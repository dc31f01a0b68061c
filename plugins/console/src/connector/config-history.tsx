import type { ConnectorChangeAnswer } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { DeletedFold } from '../common/deleted-fold.tsx';
import { isWritable } from '../common/fleet-store.ts';
import { Button } from '../kit/button.tsx';
import { Async, usePolled } from '../kit/loaded.tsx';
import { Time } from '../kit/time.tsx';
import { texts } from '../texts/history.ts';
import { ConfigDifference } from './config-difference.tsx';
import './config-history.css';
import type { PartProps } from './health.ts';
import { useRestoring } from './restoring.tsx';

/**
 * Lists the recorded changes of a connector with their authors, and can restore the configuration as of a change.
 * `health`: absent for a deleted connector.
 */
export function ConfigHistory({ name, health }: Pick<PartProps, 'name'> & Partial<PartProps>) {
  const loaded = usePolled(name, () =>
    request<readonly ConnectorChangeAnswer[]>('GET', `${connectorPath(name)}/history`),
  );
  const { done, report, restore, dialog } = useRestoring(health?.tasks.length ?? 0, loaded.reload);
  return (
    <>
      <section>
        <h2>{texts.history}</h2>
        <p class="quiet">{texts.hint}</p>
        <p role="status" ref={report} tabIndex={-1}>
          {done === undefined ? '' : texts.done(done.n)}
        </p>
        <Async of={loaded}>
          {(changes) =>
            changes.length === 0 ? (
              <p class="empty">{texts.none}</p>
            ) : (
              <ol class="changes">
                {changes.map((change) => (
                  <ChangeItem
                    key={change.n}
                    change={change}
                    onRestore={(button) => restore({ name, n: change.n }, button)}
                  />
                ))}
              </ol>
            )
          }
        </Async>
      </section>
      <DeletedFold />
      {dialog}
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
        <Time at={at} />
        <span class="quiet">{automatic === true ? texts.automatic : byText(by)}</span>
        {madeBy === null ? null : <span class="quiet">{texts.onWorker(madeBy)}</span>}
        <span class="quiet">{texts.change(n)}</span>
        {what === 'deleted' || !isWritable.value ? null : (
          <Button aria-label={texts.restoreOf(n)} onClick={({ currentTarget }) => onRestore(currentTarget)}>
            {texts.restore}
          </Button>
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
