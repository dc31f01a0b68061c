import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../common/api.ts';
import { texts } from '../texts/frame.ts';
import { Problem } from './problem.tsx';

/** How often views load their data again. */
export const POLL_MS = 5000;

/** The last value that was loaded. If the last request failed, `error` is set and the value is stale. */
export interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: ApiError | undefined;
  /** The time at which the value was loaded. */
  readonly at: Date;
  /** Loads the value again. Meanwhile, the last value stays available. */
  readonly reload: () => void;
}

interface LoadOptions<T> {
  /** When this value changes, `load` is called again. Meanwhile, the last loaded value stays available. */
  readonly again?: unknown;
  /** Milliseconds until the value is loaded again; if absent, it is not loaded again. */
  readonly everyMs?: (value: T | undefined) => number;
}

interface Found<T> {
  readonly key: string;
  readonly value?: T;
  readonly error?: ApiError;
  readonly at: Date;
}

/** Loads a value when the view opens and whenever `key` changes. A value that was loaded for another key is not returned. */
export function useLoaded<T>(key: string, load: () => Promise<T>, { again, everyMs }: LoadOptions<T> = {}): Loaded<T> {
  const [found, setFound] = useState<Found<T>>({ key, at: new Date() });
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isOpen = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      let value: T | undefined;
      try {
        value = await load();
        if (isOpen) setFound({ key, value, at: new Date() });
      } catch (reason) {
        const error = reason instanceof ApiError ? reason : new ApiError(0, String(reason));
        if (isOpen) setFound((last) => (last.key === key ? { ...last, error } : { key, error, at: last.at }));
      }
      if (isOpen && everyMs !== undefined) timer = setTimeout(() => void look(), everyMs(value));
    };
    void look();
    return () => {
      isOpen = false;
      clearTimeout(timer);
    };
  }, [key, again, round]);
  const { value, error, at } = found.key === key ? found : { ...found, value: undefined, error: undefined };
  return { value, error, at, reload: () => setRound((last) => last + 1) };
}

/** Like `useLoaded`, but loads the value again every five seconds. */
export function usePolled<T>(key: string, load: () => Promise<T>): Loaded<T> {
  return useLoaded(key, load, { everyMs: () => POLL_MS });
}

interface AsyncProps<T> {
  readonly of: Pick<Loaded<T>, 'value' | 'error'>;
  /** Replaces the message of the error. */
  readonly problem?: string | undefined;
  /** Shown instead of the default text until the first value is loaded. */
  readonly loading?: ComponentChildren;
  readonly children: (value: T) => ComponentChildren;
}

/** Shows a loaded value, and the error of the last request if it failed. Until the first result, it shows a text. */
export function Async<T>({ of: { value, error }, problem = error?.message ?? '', loading, children }: AsyncProps<T>) {
  if (value === undefined && problem === '')
    return loading === undefined ? <p class="empty">{texts.loading}</p> : <>{loading}</>;
  return (
    <>
      <Problem text={problem} />
      {value === undefined ? null : children(value)}
    </>
  );
}
