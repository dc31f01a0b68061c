import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { Argument, Command } from 'commander';
import { completionScript, SHELLS, type Shell } from '../../../../src/cli/command-line/completion.ts';
import { completeHelp } from '../../../../src/cli/command-line/help.ts';

const run = promisify(execFile);

function program(): Command {
  const sluice = new Command('sluice').exitOverride();
  sluice.command('start').description('start a worker').argument('[worker.properties]', 'settings');
  sluice
    .command('dev')
    .description("start a stack: the user's own")
    .option('--fresh', 'forget [all] data')
    .option('--data <folder>', 'where data are: a folder')
    .option('--bootstrap <servers>', 'use this Kafka')
    .action(() => undefined);
  sluice.command('completion').description('print a script').addArgument(new Argument('<shell>').choices(SHELLS));
  completeHelp(sluice);
  return sluice;
}

describe('completion by shells', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-completion-'));
    await writeFile(join(folder, 'worker.properties'), '');
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function script(shell: Shell): Promise<string> {
    const path = join(folder, `completion.${shell}`);
    await writeFile(path, completionScript(program(), shell));
    return path;
  }

  async function installed(shell: Shell): Promise<boolean> {
    return run(shell, ['--version']).then(
      () => true,
      () => false,
    );
  }

  /** The completions that each shell offers for these words, the last of which is incomplete. */
  const offers: Record<Shell, (words: readonly string[]) => Promise<string[]>> = {
    bash: async (words) => {
      const list = words.map((word) => `'${word}'`).join(' ');
      const code = `source '${await script('bash')}'; COMP_WORDS=(${list}); COMP_CWORD=${String(words.length - 1)}; _sluice; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return lines((await run('bash', ['--norc', '-c', code], { cwd: folder })).stdout);
    },
    fish: async (words) => {
      const code = `source '${await script('fish')}'; complete -C '${words.join(' ')}'`;
      const { stdout } = await run('fish', ['--no-config', '-c', code], { cwd: folder });
      return lines(stdout).map((line) => line.split('\t')[0] ?? '');
    },
    zsh: async (words) => {
      // In a terminal of its own, after Tab: the line with the only word that there is, or a list.
      const code = `
        zmodload zsh/zpty
        zpty z zsh -f -i
        zpty -w z "PS1= ; stty -echo cols 200; autoload -Uz compinit; compinit -u -D; source '${await script('zsh')}'; cd '${folder}'"
        zpty -w z 'report() { zle expand-or-complete; zle -R; print -r -- "<END $BUFFER>" }; zle -N report; bindkey "^I" report'
        zpty -w z "print rea''dy"
        while zpty -r z line; do [[ $line == *ready* ]] && break; done
        zpty -n -w z $'${words.join(' ')}\\t'
        while zpty -r z line; do print -r -- $line; [[ $line == *'<END'*'>'* ]] && break; done
        zpty -d z`;
      const { stdout } = await run('zsh', ['-f', '-c', code], { cwd: folder });
      const last = words.at(-1) ?? '';
      const shown = stripVTControlCharacters(stdout).match(/[\w.-]+/g) ?? [];
      return [...new Set(shown.filter((word) => word.startsWith(last) && word !== last))];
    },
  };

  for (const shell of SHELLS) {
    it(`${shell} completes commands, flags, choices and files`, async function () {
      if (!(await installed(shell))) return this.skip();
      const offer = offers[shell];
      assert.deepEqual(await offer(['sluice', 'st']), ['start']);
      assert.deepEqual(await offer(['sluice', 'dev', '--f']), ['--fresh']);
      assert.deepEqual((await offer(['sluice', 'dev', '--'])).sort(), ['--bootstrap', '--data', '--fresh', '--help']);
      assert.deepEqual(await offer(['sluice', 'completion', 'z']), ['zsh']);
      // bash looks for files itself where nothing is offered.
      const files = shell === 'bash' ? [] : ['worker.properties'];
      assert.deepEqual(
        (await offer(['sluice', 'start', 'work'])).filter((word) => word !== ''),
        files,
      );
    });
  }
});

describe('the help of a command', () => {
  it('has an example', () => {
    let text = '';
    const dev = program().commands[1];
    dev?.configureOutput({ writeOut: (part) => (text += part) });
    dev?.outputHelp();
    assert.match(text, /\nExample:\n {2}sluice dev --fresh\n$/);
  });

  it('is shown with the nearest flag to a wrong one', () => {
    const sluice = program();
    let text = '';
    for (const command of sluice.commands)
      command.configureOutput({ writeErr: (part) => (text += part) }).exitOverride();
    assert.throws(() => sluice.parse(['dev', '--bootstrap-servers', 'x'], { from: 'user' }));
    assert.match(text, /unknown option '--bootstrap-servers'\n\(Did you mean --bootstrap\?\)\n/);
  });
});

function lines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
