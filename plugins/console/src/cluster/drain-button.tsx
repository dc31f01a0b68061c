import { useId, useRef } from 'preact/hooks';
import type { GroupWorkerAnswer } from '../common/answers.ts';
import { request } from '../common/api.ts';
import { texts } from '../texts/cluster.ts';

interface DrainButtonProps {
  readonly worker: GroupWorkerAnswer;
  readonly all: readonly GroupWorkerAnswer[];
  readonly report: (problem: string) => void;
}

/** Drains a worker, or ends that; says what will happen, and asks. */
export function DrainButton({ worker, all, report }: DrainButtonProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  const { worker_id: id, connectors, tasks } = worker;
  const isDraining = worker.state !== 'running';
  const others = all.filter((each) => each.worker_id !== id && each.state === 'running').length;
  const path = `/cluster/workers/${encodeURIComponent(id)}/drain`;
  const run = async (): Promise<void> => {
    dialog.current?.close();
    try {
      await (isDraining ? request('DELETE', path) : request('PUT', path, { drain: true }));
      report('');
    } catch (error) {
      report((error as Error).message);
    }
  };
  const what = isDraining
    ? texts.undrainWhat
    : others === 0
      ? texts.drainAlone
      : texts.drainWhat(connectors, tasks, others);
  return (
    <>
      <button
        type="button"
        aria-label={isDraining ? texts.undrainOf(id) : texts.drainOf(id)}
        onClick={() => dialog.current?.showModal()}
      >
        {isDraining ? texts.undrain : texts.drain}
      </button>
      <dialog ref={dialog} aria-labelledby={title}>
        <h2 id={title}>{isDraining ? texts.undrainTitle(id) : texts.drainTitle(id)}</h2>
        <p>{what}</p>
        <div class="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            {texts.cancel}
          </button>
          <button type="button" class="primary" disabled={!isDraining && others === 0} onClick={() => void run()}>
            {isDraining ? texts.undrain : texts.drain}
          </button>
        </div>
      </dialog>
    </>
  );
}
