import { useEffect, useRef, useState } from 'preact/hooks';
import { texts } from '../texts/data.ts';

const EVERY_MS = 3000;
const LASTS_MS = 5 * 60_000;

/**
 * Newer messages are loaded every three seconds, until the user stops it, the page is hidden, five minutes have passed,
 * or `load` returns a reason.
 */
export interface LiveTail {
  /** The time at which it ends; `undefined` while it does not run. */
  readonly until: number | undefined;
  /** Why it has ended; empty if the user has stopped it. */
  readonly ended: string;
  readonly start: () => void;
  readonly stop: () => void;
}

/**
 * `load` loads the newer messages once. It returns the reason why the live view must end, or `undefined` to continue.
 */
export function useLiveTail(load: () => Promise<string | undefined>): LiveTail {
  const [until, setUntil] = useState<number | undefined>(undefined);
  const [ended, setEnded] = useState('');
  const latest = useRef(load);
  latest.current = load;
  const end = (why: string): void => {
    setUntil(undefined);
    setEnded(why);
  };
  useEffect(() => {
    if (until === undefined) return;
    let isOpen = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      const why = Date.now() >= until ? texts.liveOver : await latest.current();
      if (!isOpen) return;
      if (why === undefined) timer = setTimeout(() => void look(), EVERY_MS);
      else end(why);
    };
    const changed = (): void => {
      if (document.hidden) end(texts.liveHidden);
    };
    void look();
    document.addEventListener('visibilitychange', changed);
    return () => {
      isOpen = false;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', changed);
    };
  }, [until]);
  return {
    until,
    ended,
    start: () => {
      setEnded('');
      setUntil(Date.now() + LASTS_MS);
    },
    stop: () => {
      end('');
    },
  };
}
