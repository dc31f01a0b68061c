import { useState } from 'preact/hooks';
import { ApiError, connectorPath, request } from '../common/api.ts';
import { refresh } from '../common/fleet-store.ts';
import { Button } from '../kit/button.tsx';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { texts } from '../texts/fleet.ts';

const ACTIONS = ['pause', 'resume', 'stop', 'restart'] as const;
type Action = (typeof ACTIONS)[number];

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

interface BulkActionsProps {
  readonly names: readonly string[];
  /** Called with lines that describe the action and each failure. */
  readonly report: (lines: readonly string[]) => void;
}

/** Runs an action on the selected connectors after a confirmation. */
export function BulkActions({ names, report }: BulkActionsProps) {
  const [action, setAction] = useState<Action>('pause');
  const [isOpen, setOpen] = useState(false);
  const ask = (wanted: Action): void => {
    setAction(wanted);
    setOpen(true);
  };
  const run = async (): Promise<void> => {
    setOpen(false);
    const failures = await forAll(names, action);
    report([texts.done(LABELS[action], names.length - failures.length), ...failures]);
    await refresh().catch(() => undefined);
  };
  return (
    <>
      <div class="bulk" role="toolbar" aria-label={texts.selected(names.length)}>
        <strong>{texts.selected(names.length)}</strong>
        {ACTIONS.map((each) => (
          <Button key={each} onClick={() => ask(each)}>
            {LABELS[each]}
          </Button>
        ))}
      </div>
      <ConfirmDialog
        title={texts.confirm(LABELS[action], names.length)}
        confirm={LABELS[action]}
        isOpen={isOpen}
        onConfirm={run}
        onClose={() => setOpen(false)}
      >
        <p>{texts.willHappen[action]}</p>
        <ul class="names">
          {names.map((name) => (
            <li key={name}>{name}</li>
          ))}
        </ul>
      </ConfirmDialog>
    </>
  );
}

/** Runs the action on each connector. Resolves with a line for each failure. */
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
