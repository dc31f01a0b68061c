import { useState } from 'preact/hooks';
import type { GroupWorkerAnswer } from '../common/answers.ts';
import { request } from '../common/api.ts';
import type { Action } from '../kit/action.ts';
import { Button } from '../kit/button.tsx';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { texts } from '../texts/cluster.ts';

interface DrainButtonProps {
  readonly worker: GroupWorkerAnswer;
  readonly all: readonly GroupWorkerAnswer[];
  readonly run: Action['run'];
}

/** Drains a worker, or ends the drain, after a dialog that says what will happen. */
export function DrainButton({ worker, all, run }: DrainButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const { worker_id: id, connectors, tasks } = worker;
  const isDraining = worker.state !== 'running';
  const others = all.filter((each) => each.worker_id !== id && each.state === 'running').length;
  const path = `/cluster/workers/${encodeURIComponent(id)}/drain`;
  const what = isDraining
    ? texts.undrainWhat
    : others === 0
      ? texts.drainAlone
      : texts.drainWhat(connectors, tasks, others);
  const confirm = (): void => {
    setOpen(false);
    void run(() => (isDraining ? request('DELETE', path) : request('PUT', path, { drain: true })));
  };
  return (
    <>
      <Button
        aria-label={isDraining ? texts.undrainOf(id) : texts.drainOf(id)}
        title={isDraining ? undefined : texts.drainHint}
        onClick={() => setOpen(true)}
      >
        {isDraining ? texts.undrain : texts.drain}
      </Button>
      <ConfirmDialog
        title={isDraining ? texts.undrainTitle(id) : texts.drainTitle(id)}
        confirm={isDraining ? texts.undrain : texts.drain}
        isOpen={isOpen}
        isDisabled={!isDraining && others === 0}
        onConfirm={confirm}
        onClose={() => setOpen(false)}
      >
        <p>{what}</p>
      </ConfirmDialog>
    </>
  );
}
