/**
 * Resolves with true if the promise resolves within `timeoutMs` milliseconds, and otherwise with false; the work then
 * continues. Rejects if the promise rejects. The timer is cleared in all cases.
 */
export async function within(outcome: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, false);
  });
  try {
    return await Promise.race([outcome.then(() => true), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
