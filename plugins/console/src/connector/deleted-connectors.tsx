import { useEffect, useRef, useState } from 'preact/hooks';
import type { DeletedConnectors as DeletedAnswer } from '../common/answers.ts';
import { request } from '../common/api.ts';
import { worker } from '../common/fleet-store.ts';
import { Problem } from '../common/problem.tsx';
import { connectorAddress } from '../common/route.ts';
import { texts } from '../texts/history.ts';
import './config-history.css';
import { RestoreDialog } from './restore-dialog.tsx';

/** Those that have a history, the last first, and the way to create them again. */
export function DeletedConnectors() {
  const [found, setFound] = useState<DeletedAnswer | undefined>();
  const [problem, setProblem] = useState('');
  const [round, setRound] = useState(0);
  const [restoring, setRestoring] = useState<{ readonly name: string; readonly n: number } | undefined>();
  const [done, setDone] = useState<string | undefined>();
  const opener = useRef<HTMLElement | null>(null);
  const report = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    let isOpen = true;
    request<DeletedAnswer>('GET', '/ui/deleted-connectors').then(
      (answer) => {
        if (!isOpen) return;
        setFound(answer);
        setProblem('');
      },
      (error: unknown) => {
        if (isOpen) setProblem((error as Error).message);
      },
    );
    return () => {
      isOpen = false;
    };
  }, [round]);
  const end = (isDone: boolean): void => {
    if (isDone && restoring !== undefined) {
      setDone(restoring.name);
      setRound(round + 1);
    }
    setRestoring(undefined);
    (isDone ? report : opener).current?.focus();
  };
  const more = found === undefined ? 0 : found.total - found.connectors.length;
  return (
    <>
      <p role="status" ref={report} tabIndex={-1}>
        {done === undefined ? null : <a href={connectorAddress(done)}>{texts.created(done)}</a>}
      </p>
      <Problem text={problem} />
      {found === undefined ? (
        problem === '' && <p class="empty">{texts.loading}</p>
      ) : found.connectors.length === 0 ? (
        <p>{texts.noDeleted}</p>
      ) : (
        <ul class="deleted">
          {found.connectors.map((deleted) => (
            <DeletedItem
              key={deleted.name}
              deleted={deleted}
              onRestore={(n, button) => {
                opener.current = button;
                setRestoring({ name: deleted.name, n });
              }}
            />
          ))}
        </ul>
      )}
      {more > 0 ? <p class="quiet">{texts.more(more)}</p> : null}
      {restoring === undefined ? null : (
        <RestoreDialog key={restoring.name} name={restoring.name} n={restoring.n} tasks={0} onEnd={end} />
      )}
    </>
  );
}

interface DeletedItemProps {
  readonly deleted: DeletedAnswer['connectors'][number];
  readonly onRestore: (n: number, button: HTMLElement) => void;
}

function DeletedItem({ deleted: { name, at, restores }, onRestore }: DeletedItemProps) {
  const isReadOnly = worker.value?.readOnly !== false;
  return (
    <li>
      <a href={connectorAddress(name, 'history')}>{name}</a>
      <span class="quiet">{texts.deletedAt(new Date(at).toLocaleString())}</span>
      {restores === null ? <span class="quiet">{texts.notRestorable}</span> : null}
      {restores === null || isReadOnly ? null : (
        <button
          type="button"
          aria-label={texts.restoreConnector(name)}
          onClick={({ currentTarget }) => {
            onRestore(restores, currentTarget);
          }}
        >
          {texts.restore}
        </button>
      )}
    </li>
  );
}
