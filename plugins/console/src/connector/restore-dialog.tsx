import { useRef, useState } from 'preact/hooks';
import type { RestorePreview } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { refresh } from '../common/fleet-store.ts';
import { useAction } from '../kit/action.ts';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { Async, useLoaded } from '../kit/loaded.tsx';
import { Problem } from '../kit/problem.tsx';
import { texts } from '../texts/history.ts';
import { ConfigDifference } from './config-difference.tsx';

interface RestoreDialogProps {
  readonly name: string;
  readonly n: number;
  /** The current number of tasks. */
  readonly tasks: number;
  readonly onEnd: (done: boolean) => void;
}

/** Shows what restoring a configuration would change, and restores it when the user confirms. */
export function RestoreDialog({ name, n, tasks, onEnd }: RestoreDialogProps) {
  const [isOpen, setOpen] = useState(true);
  const isDone = useRef(false);
  const path = `/ui${connectorPath(name)}/changes/${String(n)}`;
  const loaded = useLoaded(path, () => request<RestorePreview>('GET', path));
  const { isBusy, problem, run } = useAction();
  const { value: found } = loaded;
  const restore = (): Promise<void> =>
    run(async () => {
      await request('POST', `${path}/restore?newest=${String(found?.newest)}`);
      isDone.current = true;
      setOpen(false);
      await refresh().catch(() => undefined);
    });
  return (
    <ConfirmDialog
      title={texts.asked(name, n)}
      class="restore"
      isOpen={isOpen}
      confirm={found === undefined || isSame(found) ? undefined : texts.confirm}
      isDisabled={isBusy}
      onConfirm={restore}
      onClose={() => onEnd(isDone.current)}
    >
      <Async of={loaded}>{(preview) => <Coming found={preview} tasks={tasks} />}</Async>
      <Problem text={problem} />
    </ConfirmDialog>
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
