/**
 * The sentence of a verdict with its cause first: lists cut what comes last, and the cause is what helps. A sentence without a known
 * form stays as it is.
 */
export function causeFirst(sentence: string): string {
  const stalled = /^Task (\d+): (.+?), and nothing was (?:delivered|acknowledged) for (\d+) s: (.+)\.$/.exec(sentence);
  if (stalled !== null) {
    const [, task = '', waiting = '', , cause = ''] = stalled;
    return `${capital(lockText(cause))} (task ${task}, ${waiting.replace(/^The task waits$/, 'it waits')})`;
  }
  const failed =
    /^(?:Task (\d+)|The connector) has failed: (.+?)(?:; (?:it is not restarted|the next attempt|attempt).*)?\.?$/s.exec(
      sentence,
    );
  if (failed === null) return sentence;
  const [, task, cause = ''] = failed;
  return `${capital(withoutWrappers(cause))}${task === undefined ? '' : ` (task ${task})`}`;
}

/** `Locked by night-migration (pid 999)` */
function lockText(cause: string): string {
  const lock = /^the database waits for a lock that pid (\d+) holds(?:, application "([^"]*)")?/.exec(cause);
  if (lock === null) return cause;
  const [, pid = '', application = ''] = lock;
  return application === '' ? `Locked by pid ${pid}` : `Locked by ${application} (pid ${pid})`;
}

/** Class names before a message, such as `RuntimeException: `, which say nothing more. */
function withoutWrappers(cause: string): string {
  return cause.replace(/^(?:[A-Z]\w*(?:Exception|Error): )+/, '');
}

function capital(text: string): string {
  // Names of tables and topics keep their letters.
  return /^(?:the|a|no|it|its|nothing|password|there) /.test(text)
    ? text.charAt(0).toUpperCase() + text.slice(1)
    : text;
}
