import { execFile } from 'node:child_process';
import { cp, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Instruction {
  readonly keyword: string;
  readonly text: string;
}

export interface Stage {
  readonly name: string;
  readonly instructions: readonly Instruction[];
}

/** The stages of a Dockerfile; comments are dropped and continued lines joined. */
export function parseDockerfile(text: string): readonly Stage[] {
  const lines = text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'))
    .join('\n')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const stages: { name: string; instructions: Instruction[] }[] = [];
  for (const line of lines) {
    const [, keyword = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line.trim()) ?? [];
    if (keyword === 'FROM') stages.push({ name: / AS (\S+)$/.exec(rest)?.[1] ?? '', instructions: [] });
    else stages.at(-1)?.instructions.push({ keyword, text: rest });
  }
  return stages;
}

/** Parses the JSON of an instruction in exec form, such as `CMD ["a", "b"]`. Flags in front of it are skipped. */
export function execForm(stage: Stage, keyword: string): readonly string[] {
  const text = stage.instructions.find((instruction) => instruction.keyword === keyword)?.text ?? '';
  const json = /\[.*\]$/.exec(text)?.[0];
  if (json === undefined) throw new Error(`no ${keyword} in exec form`);
  return JSON.parse(json) as string[];
}

/**
 * Builds the contents of an image without a container engine. Each stage gets a folder below `target` that represents
 * its `/`; COPY and RUN are executed there with this machine's Node. RUN of the last stage installs system packages and
 * is skipped. Returns the folder of the last stage.
 */
export async function buildContents(stages: readonly Stage[], context: string, target: string): Promise<string> {
  const roots = new Map(stages.map(({ name }, index) => [name, join(target, name === '' ? String(index) : name)]));
  const last = stages.at(-1);
  if (last === undefined) throw new Error('no stage');
  for (const stage of stages) {
    const root = roots.get(stage.name) ?? target;
    let folder = root;
    for (const { keyword, text } of stage.instructions) {
      if (keyword === 'WORKDIR') {
        folder = join(root, text);
        await mkdir(folder, { recursive: true });
      } else if (keyword === 'COPY') await copy(text, folder, context, roots);
      else if (keyword === 'RUN' && stage !== last) await run(text, folder);
    }
  }
  return roots.get(last.name) ?? target;
}

async function copy(text: string, folder: string, context: string, roots: ReadonlyMap<string, string>): Promise<void> {
  const words = text.split(/\s+/);
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
  const paths = words.filter((word) => !word.startsWith('--'));
  const destination = paths.pop() ?? '';
  const source = from === undefined ? context : (roots.get(from) ?? from);
  for (const path of paths) {
    const into = destination.endsWith('/') ? join(folder, destination, path) : join(folder, destination);
    await cp(join(source, path), into, { recursive: true, verbatimSymlinks: true });
  }
}

async function run(command: string, folder: string): Promise<void> {
  // The npm cache already contains the packages that `npm ci` downloaded for the checkout.
  const env = { ...process.env, npm_config_prefer_offline: 'true' };
  try {
    await promisify(execFile)('/bin/sh', ['-ec', command], { cwd: folder, env });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`RUN ${command} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/** Returns true if `.dockerignore`, read as a list of exceptions to `*`, includes a path in the context. */
export async function admits(dockerignore: string, path: string): Promise<boolean> {
  const lines = (await readFile(dockerignore, 'utf8')).split('\n');
  return lines.some((line) => line.startsWith('!') && (path === line.slice(1) || path.startsWith(`${line.slice(1)}/`)));
}
