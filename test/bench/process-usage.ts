import { readdir, readFile } from 'node:fs/promises';

/** Clock ticks of the kernel, the unit of CPU times in /proc. */
const TICKS_PER_SECOND = 100;

/** CPU seconds of a process, user and system, since its start. */
export async function cpuSecondsOf(pid: number): Promise<number> {
  const fields = statFields(await readFile(`/proc/${String(pid)}/stat`, 'utf8'));
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** CPU seconds of the first thread of a process, which is Node's main thread. */
export async function mainThreadSecondsOf(pid: number): Promise<number> {
  const fields = statFields(await readFile(`/proc/${String(pid)}/task/${String(pid)}/stat`, 'utf8'));
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/**
 * Returns the parent of the process; `undefined` if the process does not run this program, or is on another machine.
 */
export async function parentOf(pid: number, program: string): Promise<number | undefined> {
  const stat = await readFile(`/proc/${String(pid)}/stat`, 'utf8').catch(() => '');
  return stat.includes(`(${program})`) ? Number(statFields(stat)[1]) : undefined;
}

/** CPU seconds of a process and its children, including children that have ended. */
export async function cpuSecondsWithChildren(pid: number): Promise<number> {
  for (;;) {
    const before = await ticksOf(pid);
    let ticks = before.own;
    for (const entry of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      const process = await ticksOf(Number(entry));
      if (process.parent === String(pid)) ticks += process.own;
    }
    // A child that ended between two reads would be counted twice or not at all.
    const after = await ticksOf(pid);
    if (after.ended === before.ended) return (ticks + after.ended) / TICKS_PER_SECOND;
  }
}

/** CPU ticks of a process with its threads, and of its children that have ended. */
async function ticksOf(pid: number): Promise<{ parent: string | undefined; own: number; ended: number }> {
  const fields = statFields(await readFile(`/proc/${String(pid)}/stat`, 'utf8').catch(() => ''));
  const sum = (...at: number[]): number => at.reduce((total, field) => total + Number(fields[field] ?? 0), 0);
  return { parent: fields[1], own: sum(11, 12), ended: sum(13, 14) };
}

/** Resident memory in MiB. */
export async function rssMbOf(pid: number): Promise<number> {
  return statusMb(pid, 'VmRSS');
}

/** The peak resident memory of a process, in MiB. */
export async function peakRssMbOf(pid: number): Promise<number> {
  return statusMb(pid, 'VmHWM');
}

async function statusMb(pid: number, field: string): Promise<number> {
  const status = await readFile(`/proc/${String(pid)}/status`, 'utf8');
  return Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024);
}

/** Returns the fields of /proc/PID/stat, starting with the state. The preceding program name may contain blanks. */
function statFields(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
