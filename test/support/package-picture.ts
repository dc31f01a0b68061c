import { importsBelow } from './imports.ts';

/** The room of a file: a folder or a file of `src` or of `plugins/database`, or another plugin. */
function roomOf(file: string): string {
  const [top = '', name = '', part = ''] = file.split('/');
  if (top === 'src') return name;
  return name === 'database' ? `${top}/${name}/${part}` : `${top}/${name}`;
}

/** Imports of each room from the others, types included. */
function imported(): ReadonlyMap<string, ReadonlySet<string>> {
  const rooms = new Map<string, Set<string>>();
  for (const [file, files] of importsBelow('src', 'plugins')) {
    if (file.includes('/test/')) continue;
    const room = roomOf(file);
    const others = rooms.get(room) ?? new Set();
    for (const other of files.map(roomOf)) if (other !== room) others.add(other);
    rooms.set(room, others);
  }
  return rooms;
}

/**
 * The rooms in rows, each as low as what it imports allows: a room imports from lower rows alone. At the end of a row: how many rooms
 * its rooms import.
 */
export function packagePicture(): string {
  const rooms = imported();
  const levels = new Map<string, number>();
  const levelOf = (room: string): number => {
    const known = levels.get(room);
    if (known !== undefined) return known;
    const level = Math.max(-1, ...[...(rooms.get(room) ?? [])].map(levelOf)) + 1;
    levels.set(room, level);
    return level;
  };
  const rows: string[][] = [];
  for (const room of [...rooms.keys()].sort()) (rows[levelOf(room)] ??= []).push(room);
  const shown = (room: string): string => `${room} (${String(rooms.get(room)?.size ?? 0)})`;
  return rows
    .map((row) => row.map(shown).join('   '))
    .reverse()
    .join('\n');
}
