import type { Argument, Command, Option } from 'commander';

/** The shells that `sluice completion` knows. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

interface Flag {
  readonly long: string;
  readonly description: string;
  /** Name of the flag's value, for the help; `undefined` if the flag takes no value. */
  readonly value: string | undefined;
}

interface Subcommand {
  readonly name: string;
  readonly description: string;
  readonly flags: readonly Flag[];
  readonly choices: readonly string[];
  readonly takesFiles: boolean;
}

/** The completion script of a program for a shell. */
export function completionScript(program: Command, shell: Shell): string {
  const commands = program.commands.map(subcommand);
  const name = program.name();
  const lines = { bash, zsh, fish }[shell](name, commands);
  return `${lines.join('\n')}\n`;
}

function subcommand(command: Command): Subcommand {
  const { registeredArguments } = command;
  return {
    name: command.name(),
    description: command.description(),
    flags: [...command.options.map(flag), { long: '--help', description: 'show the help', value: undefined }],
    choices: registeredArguments.flatMap(({ argChoices }: Argument) => argChoices ?? []),
    takesFiles: registeredArguments.some((argument) => isPath(argument.name())),
  };
}

function flag(option: Option): Flag {
  const takesValue = option.required || option.optional;
  const value = takesValue ? (/^[^<[]*[<[]([^>\]]+)/.exec(option.flags)?.[1] ?? 'value') : undefined;
  return { long: option.long ?? option.flags, description: option.description, value };
}

/** Arguments and flag values that are paths are recognized by their names, such as `file` and `worker.properties`. */
function isPath(name: string): boolean {
  return /file|folder|\.properties$|^connectors$/.test(name);
}

function bash(name: string, commands: readonly Subcommand[]): string[] {
  const names = commands.map((each) => each.name);
  const words = ({ flags, choices }: Subcommand) => quoted([...choices, ...flags.map(({ long }) => long)].join(' '));
  const withValue = commands.flatMap(({ flags }) => flags.filter(({ value }) => value !== undefined));
  const values = [...new Set(withValue.map(({ long }) => long))].join('|');
  return [
    `# bash completion of ${name}: source <(${name} completion bash)`,
    `_${name}() {`,
    '  local word command= words= cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}',
    '  COMPREPLY=()',
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    `    case $word in ${names.join('|')}) command=$word; break ;; esac`,
    '  done',
    ...(values === '' ? [] : [`  case $previous in ${values}) return ;; esac`]),
    '  case $command in',
    `    '') words=${quoted([...names, '--help', '--version'].join(' '))} ;;`,
    ...commands.map((each) => `    ${each.name}) words=${words(each)} ;;`),
    '  esac',
    `  [[ -n $cur && $cur != -* && " ${commands
      .filter(({ takesFiles }) => takesFiles)
      .map((each) => each.name)
      .join(' ')} " == *" $command "* ]] && return`,
    '  COMPREPLY=($(compgen -W "$words" -- "$cur"))',
    '}',
    `complete -o default -F _${name} ${name}`,
  ];
}

function zsh(name: string, commands: readonly Subcommand[]): string[] {
  const described = (each: Subcommand) => quoted(`${each.name}:${each.description.replaceAll(':', '\\:')}`);
  return [
    `#compdef ${name}`,
    `# zsh completion of ${name}: source <(${name} completion zsh), after compinit; or as the file _${name} in a folder of fpath`,
    `_${name}() {`,
    '  local -a commands',
    `  commands=(${commands.map(described).join(' ')})`,
    '  if (( CURRENT == 2 )); then',
    '    _describe command commands',
    '    return',
    '  fi',
    '  local command=${words[2]}',
    '  shift words',
    '  (( CURRENT-- ))',
    '  case $command in',
    ...commands.map((each) => `    ${each.name}) _arguments ${zshArguments(each).map(quoted).join(' ')} ;;`),
    '  esac',
    '}',
    `if [[ $funcstack[1] == _${name} ]]; then _${name} "$@"; else compdef _${name} ${name}; fi`,
  ];
}

function zshArguments({ flags, choices, takesFiles }: Subcommand): string[] {
  const text = (description: string) => description.replace(/[[\]:\\]/g, '\\$&');
  return [
    ...flags.map(({ long, description, value }) => {
      const of = value === undefined ? '' : `:${text(value)}:${isPath(value) ? '_files' : ''}`;
      return `${long}[${text(description)}]${of}`;
    }),
    ...(choices.length > 0 ? [`1:what:(${choices.join(' ')})`] : []),
    ...(takesFiles ? ['*:file:_files'] : []),
  ];
}

function fish(name: string, commands: readonly Subcommand[]): string[] {
  const seen = (each: Subcommand) => `-n ${quoted(`__fish_seen_subcommand_from ${each.name}`)}`;
  return [
    `# fish completion of ${name}: ${name} completion fish | source`,
    `complete -c ${name} -f`,
    ...commands.flatMap((each) => [
      `complete -c ${name} -n __fish_use_subcommand -a ${each.name} -d ${quoted(each.description)}`,
      ...each.flags.map(({ long, description, value }) => {
        const of = value === undefined ? '' : isPath(value) ? ' -r -F' : ' -x';
        return `complete -c ${name} ${seen(each)} -l ${long.slice(2)}${of} -d ${quoted(description)}`;
      }),
      ...(each.choices.length > 0 ? [`complete -c ${name} ${seen(each)} -a ${quoted(each.choices.join(' '))}`] : []),
      ...(each.takesFiles ? [`complete -c ${name} ${seen(each)} -F`] : []),
    ]),
  ];
}

/** Quotes a text as one word for all three shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
