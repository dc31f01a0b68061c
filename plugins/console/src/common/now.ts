import { useEffect, useState } from 'preact/hooks';

/** The current time in milliseconds, updated every second while `isWanted` is true. */
export function useNow(isWanted = true): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!isWanted) return;
    setNow(Date.now());
    const timer = setInterval(() => {
      setNow(Date.now());
    }, 1000);
    return () => {
      clearInterval(timer);
    };
  }, [isWanted]);
  return now;
}
