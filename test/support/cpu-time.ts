/**
 * Milliseconds of CPU that this process spends while `work` runs, which a busy machine hardly changes. The garbage collector's
 * threads count too, so that short work is better measured several times.
 */
export function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
