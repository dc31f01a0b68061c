/**
 * Returns the milliseconds of CPU that this process uses while `work` runs, which hardly depend on the load of the
 * machine. The threads of the garbage collector are included, so measure short work several times.
 */
export function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
