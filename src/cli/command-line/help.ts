import type { Command } from 'commander';
import { nearestName } from '../../config/nearest.ts';

/** Example command lines for the help, by command. Other commands declare their examples themselves, if they have any. */
const EXAMPLES: Readonly<Record<string, string>> = {
  start: 'sluice start worker.properties',
  standalone: 'sluice standalone worker.properties sink.json source.json',
  doctor: 'sluice doctor worker.properties sink.json',
  dev: 'sluice dev --fresh',
  plugins: 'sluice plugins list --plugin-path /opt/plugins',
  completion: 'source <(sluice completion bash)',
};

/** Adds the examples to the help of a program's commands. Errors about an unknown flag then suggest the nearest flag. */
export function completeHelp(program: Command): void {
  for (const command of program.commands) {
    const example = EXAMPLES[command.name()];
    if (example !== undefined) command.addHelpText('after', `\nExample:\n  ${example}`);
    command.configureOutput({
      outputError: (text, write) => {
        write(withHint(text, command));
      },
    });
  }
}

function withHint(text: string, { options }: Command): string {
  const [, given] = /unknown option '([^']+)'/.exec(text) ?? [];
  if (given === undefined || text.includes('Did you mean')) return text;
  const nearest = nearestName(
    given,
    options.flatMap(({ long }) => long ?? []),
  );
  return nearest === undefined ? text : `${text.trimEnd()}\n(Did you mean ${nearest}?)\n`;
}
