/**
 * Whether a promise resolves within `timeoutMs` milliseconds. The work behind it continues after the answer `false`. Rejects as
 * the promise does. The timer is cleared in all cases.
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
