import { setTimeout as delay } from 'node:timers/promises';
import { openTimers, watchTimers } from './open-timers.ts';
import { sharedProcesses } from './services.ts';

/**
 * Kinds of open resources that a file must close again. All except Timeout are counted by
 * `process.getActiveResourcesInfo()`.
 */
const watched = ['ProcessWrap', 'TCPSocketWrap', 'TCPServerWrap', 'TLSWrap', 'Timeout', 'MessagePort'] as const;

// Closing takes a few turns of the event loop, and a killed child process a moment.
const graceMs = 2000;

type Census = ReadonlyMap<string, number>;

/** Counts the resources of each watched kind that keep this process alive, without those of the shared services. */
function census(): Census {
  const counts = new Map<string, number>(watched.map((kind) => [kind, 0]));
  for (const kind of process.getActiveResourcesInfo()) {
    const count = counts.get(kind);
    if (count !== undefined && kind !== 'Timeout') counts.set(kind, count + 1);
  }
  counts.set('Timeout', openTimers().length);
  counts.set('ProcessWrap', (counts.get('ProcessWrap') ?? 0) - sharedProcesses());
  return counts;
}

function more(now: Census, before: Census): readonly string[] {
  return watched.flatMap((kind) => {
    const difference = (now.get(kind) ?? 0) - (before.get(kind) ?? 0);
    return difference > 0 ? [`${String(difference)} ${kind}`] : [];
  });
}

/** Makes each outermost suite below `root` fail if it leaves more resources open than there were before it. */
export function watchSuites(root: Mocha.Suite): void {
  watchTimers();
  let before = census();
  for (const suite of root.suites) {
    suite.afterAll('leaves nothing open', async () => {
      const deadline = Date.now() + graceMs;
      let left = more(census(), before);
      while (left.length > 0 && Date.now() < deadline) {
        await delay(20);
        left = more(census(), before);
      }
      before = census();
      if (left.length > 0) throw new Error(`left open: ${left.join(', ')}${describeHandles()}`);
    });
  }
}

interface ProcessInternals {
  _getActiveHandles?(): readonly { spawnargs?: readonly string[]; remotePort?: number }[];
}

/** Lists open child processes and connections, as a hint to the leak. Uses an undocumented list of Node. */
function describeHandles(): string {
  const handles = (process as NodeJS.Process & ProcessInternals)._getActiveHandles?.() ?? [];
  const hints = handles.flatMap(({ spawnargs, remotePort }) => {
    if (spawnargs !== undefined) return [spawnargs.join(' ').slice(0, 120)];
    return remotePort === undefined ? [] : [`a connection to port ${String(remotePort)}`];
  });
  const timers = openTimers().map((where) => `\na timer of ${where}`);
  return (hints.length === 0 ? '' : ` (open: ${hints.join('; ')})`) + timers.join('');
}
