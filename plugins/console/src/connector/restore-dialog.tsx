import { useEffect, useRef, useState } from 'preact/hooks';
import type { RestorePreview } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { refresh } from '../common/fleet-store.ts';
import { Problem } from '../common/problem.tsx';
import { texts } from '../texts/history.ts';
import { ConfigDifference } from './config-difference.tsx';

interface RestoreDialogProps {
  readonly name: string;
  readonly n: number;
  /** How many tasks it has now. */
  readonly tasks: number;
  readonly onEnd: (done: boolean) => void;
}

/** What a restore would change, and the way to do it. */
export function RestoreDialog({ name, n, tasks, onEnd }: RestoreDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const isDone = useRef(false);
  const [found, setFound] = useState<RestorePreview | undefined>();
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const path = `/ui${connectorPath(name)}/changes/${String(n)}`;
  useEffect(() => {
    dialog.current?.showModal();
    request<RestorePreview>('GET', path).then(setFound, (error: unknown) => {
      setProblem((error as Error).message);
    });
  }, [path]);
  const run = async (newest: number): Promise<void> => {
    setBusy(true);
    try {
      await request('POST', `${path}/restore?newest=${String(newest)}`);
      isDone.current = true;
      // What is behind an open dialog cannot be focused.
      dialog.current?.close();
      await refresh().catch(() => undefined);
    } catch (error) {
      setProblem((error as Error).message);
      setBusy(false);
    }
  };
  return (
    <dialog
      ref={dialog}
      class="restore"
      aria-labelledby="restore-title"
      onClose={() => {
        onEnd(isDone.current);
      }}
    >
      <h2 id="restore-title">{texts.asked(name, n)}</h2>
      {found === undefined ? (
        problem === '' && <p class="quiet">{texts.loading}</p>
      ) : (
        <Coming found={found} tasks={tasks} />
      )}
      <Problem text={problem} />
      <div class="buttons">
        <button type="button" onClick={() => dialog.current?.close()}>
          {texts.cancel}
        </button>
        {found === undefined || isSame(found) ? null : (
          <button type="button" class="primary" disabled={isBusy} onClick={() => void run(found.newest)}>
            {texts.confirm}
          </button>
        )}
      </div>
    </dialog>
  );
}

function isSame({ exists, difference }: RestorePreview): boolean {
  return exists && difference.length === 0;
}

function Coming({ found, tasks }: { readonly found: RestorePreview; readonly tasks: number }) {
  const { difference, exists, restarts } = found;
  if (isSame(found)) return <p>{texts.sameAsToday}</p>;
  const secrets = difference
    .filter(({ before, after }) => before === texts.hidden || after === texts.hidden)
    .map(({ key }) => key);
  return (
    <>
      <ConfigDifference label={texts.difference} titles={[texts.today, texts.restored]} difference={difference} />
      <p>{exists ? (restarts ? texts.willRestart(tasks) : texts.willNotRestart) : texts.willCreate}</p>
      {secrets.length === 0 || !exists ? null : <p>{texts.secrets(secrets.join(', '))}</p>}
    </>
  );
}
