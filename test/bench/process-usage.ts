import { readdir, readFile } from 'node:fs/promises';

/** Of the kernel's clock ticks, in which /proc counts CPU time. */
const TICKS_PER_SECOND = 100;

/** CPU seconds of a process, user and system, since it began. */
export async function cpuSecondsOf(pid: number): Promise<number> {
  const fields = statFields(await readFile(`/proc/${String(pid)}/stat`, 'utf8'));
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** The process that started another; `undefined` when that one is not of this program or not on this machine. */
export async function parentOf(pid: number, program: string): Promise<number | undefined> {
  const stat = await readFile(`/proc/${String(pid)}/stat`, 'utf8').catch(() => '');
  return stat.includes(`(${program})`) ? Number(statFields(stat)[1]) : undefined;
}

/** CPU seconds of a process and its children, those that have ended included. */
export async function cpuSecondsWithChildren(pid: number): Promise<number> {
  let ticks = 0;
  for (const entry of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const stat = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => '');
    const fields = statFields(stat);
    if (entry !== String(pid) && fields[1] !== String(pid)) continue;
    ticks += [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at] ?? 0), 0);
  }
  return ticks / TICKS_PER_SECOND;
}

/** Resident memory in MiB. */
export async function rssMbOf(pid: number): Promise<number> {
  return statusMb(pid, 'VmRSS');
}

/** The most resident memory a process ever had, in MiB. */
export async function peakRssMbOf(pid: number): Promise<number> {
  return statusMb(pid, 'VmHWM');
}

async function statusMb(pid: number, field: string): Promise<number> {
  const status = await readFile(`/proc/${String(pid)}/status`, 'utf8');
  return Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024);
}

/** Of /proc/PID/stat, from the state on: the program's name before it may hold blanks. */
function statFields(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
