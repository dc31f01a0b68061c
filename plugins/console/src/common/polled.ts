import { useEffect, useState } from 'preact/hooks';
import { ApiError } from './api.ts';

const INTERVAL_MS = 5000;

/** The last value that the API answered, and the error of the last request if it failed. */
export interface Polled<T> {
  readonly value: T | undefined;
  readonly error: ApiError | undefined;
}

/** Loads a value when the view opens, then every five seconds, and anew whenever `key` changes. */
export function usePolled<T>(key: string, load: () => Promise<T>): Polled<T> {
  const [found, setFound] = useState<Polled<T> & { readonly key: string }>({ key, value: undefined, error: undefined });
  useEffect(() => {
    let isOpen = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      try {
        const value = await load();
        if (isOpen) setFound({ key, value, error: undefined });
      } catch (error) {
        const reason = error instanceof ApiError ? error : new ApiError(0, String(error));
        if (isOpen) setFound((last) => ({ key, value: last.key === key ? last.value : undefined, error: reason }));
      }
      if (isOpen) timer = setTimeout(() => void look(), INTERVAL_MS);
    };
    void look();
    return () => {
      isOpen = false;
      clearTimeout(timer);
    };
  }, [key]);
  return found.key === key ? found : { value: undefined, error: undefined };
}
