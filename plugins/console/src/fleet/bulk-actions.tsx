import { useRef, useState } from 'preact/hooks';
import { ApiError, connectorPath, request } from '../common/api.ts';
import { refresh } from '../common/fleet-store.ts';
import { texts } from '../texts/fleet.ts';

type Action = 'pause' | 'resume' | 'stop' | 'restart';

const REQUESTS: Readonly<Record<Action, readonly [method: string, path: string]>> = {
  pause: ['PUT', '/pause'],
  resume: ['PUT', '/resume'],
  stop: ['PUT', '/stop'],
  restart: ['POST', '/restart?includeTasks=true&onlyFailed=true'],
};
const LABELS: Readonly<Record<Action, string>> = {
  pause: texts.pause,
  resume: texts.resume,
  stop: texts.stop,
  restart: texts.restartFailed,
};
const AT_ONCE = 4;

/** What can be done with the connectors that are chosen; asks first. */
export function BulkActions({ names }: { readonly names: readonly string[] }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [action, setAction] = useState<Action>('pause');
  const [report, setReport] = useState<readonly string[]>([]);
  const ask = (wanted: Action): void => {
    setAction(wanted);
    dialog.current?.showModal();
  };
  const run = async (): Promise<void> => {
    dialog.current?.close();
    const failures = await forAll(names, action);
    setReport([texts.done(LABELS[action], names.length - failures.length), ...failures]);
    await refresh().catch(() => undefined);
  };
  return (
    <>
      <div class="bulk" role="toolbar" aria-label={texts.selected(names.length)}>
        <strong>{texts.selected(names.length)}</strong>
        {(Object.keys(REQUESTS) as Action[]).map((each) => (
          <button
            type="button"
            key={each}
            disabled={names.length === 0}
            onClick={() => {
              ask(each);
            }}
          >
            {LABELS[each]}
          </button>
        ))}
      </div>
      <div role="status" class="report">
        {report.map((line) => (
          <p key={line}>{line}</p>
        ))}
      </div>
      <dialog ref={dialog} aria-labelledby="bulk-title">
        <h2 id="bulk-title">{texts.confirm(LABELS[action], names.length)}</h2>
        <p>{texts.willHappen[action]}</p>
        <ul class="names">
          {names.map((name) => (
            <li key={name}>{name}</li>
          ))}
        </ul>
        <div class="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            {texts.cancel}
          </button>
          <button type="button" class="primary" onClick={() => void run()}>
            {LABELS[action]}
          </button>
        </div>
      </dialog>
    </>
  );
}

/** Resolves with a line for each that failed. */
async function forAll(names: readonly string[], action: Action): Promise<readonly string[]> {
  const [method, path] = REQUESTS[action];
  const waiting = [...names];
  const failures: string[] = [];
  const work = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      try {
        await request(method, connectorPath(name) + path);
      } catch (error) {
        failures.push(texts.failed(name, error instanceof ApiError ? error.message : String(error)));
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failures;
}
