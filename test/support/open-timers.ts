/**
 * The timers that this process has set and that have neither fired nor been cleared. Node's own count
 * (`process.getActiveResourcesInfo`) becomes wrong with timers that are refreshed, such as those of `fetch`.
 */
const open = new Map<NodeJS.Timeout, string>();

const { setTimeout: realSetTimeout, setInterval: realSetInterval } = globalThis;
const { clearTimeout: realClearTimeout, clearInterval: realClearInterval } = globalThis;

let isWatching = false;

type Callback = (...values: unknown[]) => void;

function place(): string {
  const frames = (new Error().stack ?? '').split('\n').filter((line) => !/node:|open-timers/.test(line));
  return frames.slice(1, 5).join('\n');
}

function setAndNote(callback: Callback, ms?: number, ...values: unknown[]): NodeJS.Timeout {
  const timer = realSetTimeout(() => {
    open.delete(timer);
    callback(...values);
  }, ms);
  open.set(timer, `${String(ms)} ms\n${place()}`);
  return timer;
}

function repeatAndNote(callback: Callback, ms?: number, ...values: unknown[]): NodeJS.Timeout {
  const timer = realSetInterval(callback, ms, ...values);
  open.set(timer, `every ${String(ms)} ms\n${place()}`);
  return timer;
}

function clearing(clear: (timer: NodeJS.Timeout | undefined) => void) {
  return (timer: NodeJS.Timeout | undefined) => {
    if (timer !== undefined) open.delete(timer);
    clear(timer);
  };
}

/** Begins to record timers, so it must be called before any timer is set. A second call does nothing. */
export function watchTimers(): void {
  if (isWatching) return;
  isWatching = true;
  // The promise form is a property of the function.
  const set: unknown = Object.assign(setAndNote, realSetTimeout);
  const repeat: unknown = Object.assign(repeatAndNote, realSetInterval);
  globalThis.setTimeout = set as typeof setTimeout;
  globalThis.setInterval = repeat as typeof setInterval;
  globalThis.clearTimeout = clearing(realClearTimeout) as typeof clearTimeout;
  globalThis.clearInterval = clearing(realClearInterval) as typeof clearInterval;
}

/** Returns where each timer was set that still keeps the process alive. */
export function openTimers(): readonly string[] {
  return [...open].filter(([timer]) => timer.hasRef()).map(([, where]) => where);
}
