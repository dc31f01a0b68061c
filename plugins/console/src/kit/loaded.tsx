import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../common/api.ts';
import { texts } from '../texts/frame.ts';
import { Problem } from './problem.tsx';

const INTERVAL_MS = 5000;

/** The last value that the worker answered, and the error of the last request if it failed: then the value is stale. */
export interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: ApiError | undefined;
  /** When the value was loaded. */
  readonly at: Date;
  /** Loads the value again. The last one is shown meanwhile. */
  readonly reload: () => void;
}

interface LoadOptions<T> {
  /** Another number or text loads the value again, and shows the last one meanwhile. */
  readonly again?: unknown;
  /** Milliseconds until the value is loaded again. */
  readonly everyMs?: (value: T | undefined) => number;
}

interface Found<T> {
  readonly key: string;
  readonly value?: T;
  readonly error?: ApiError;
  readonly at: Date;
}

/** Loads a value when the view opens, and whenever `key` changes; the value of another key is not shown. */
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

/** The same, every five seconds. */
export function usePolled<T>(key: string, load: () => Promise<T>): Loaded<T> {
  return useLoaded(key, load, { everyMs: () => INTERVAL_MS });
}

interface AsyncProps<T> {
  readonly of: Pick<Loaded<T>, 'value' | 'error'>;
  /** Replaces the text of the error. */
  readonly problem?: string | undefined;
  /** Replaces the text while the value is loaded first. */
  readonly loading?: ComponentChildren;
  readonly children: (value: T) => ComponentChildren;
}

/** Shows a value that is loaded: that it is loading, the error of the last request, and the last value. */
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
