/**
 * Moves the cause to the start of a verdict's sentence, and leaves out durations and restart attempts. Lists cut off
 * the end of a long sentence, and the cause is its most useful part. A sentence in an unknown form is returned
 * unchanged.
 */
export function causeFirst(sentence: string): string {
  const stalled = /^Task (\d+): (.+?), and nothing was (?:delivered|acknowledged) for (\d+) s: (.+)$/s.exec(sentence);
  if (stalled !== null) {
    const [, task = '', waiting = '', , cause = ''] = stalled;
    return `${capital(lockText(cause.replace(/\.$/, '')))} (task ${task}, ${waiting.replace(/^The task waits$/, 'it waits')})`;
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

/** Removes exception class names, such as `RuntimeException: `, from the start of a message. */
function withoutWrappers(cause: string): string {
  return cause.replace(/^(?:[A-Z]\w*(?:Exception|Error): )+/, '');
}

function capital(text: string): string {
  // Other texts may begin with the name of a table or topic, whose case must not change.
  return /^(?:the|a|no|it|its|nothing|password|there|expected|cannot) /.test(text)
    ? text.charAt(0).toUpperCase() + text.slice(1)
    : text;
}
