/** How the program `ptxkit` is called: nothing here needs an editor, so that the tests can use it. */

export interface Settings {
  /** The program to start. */
  readonly command: string;
  /** Its arguments before the name of the subcommand. */
  readonly arguments: readonly string[];
}

export interface Call {
  readonly command: string;
  readonly args: string[];
}

/** The call of a subcommand of ptxkit. No shell reads it, so that file names need no quotes. */
export function call(settings: Settings, ...args: string[]): Call {
  return { command: settings.command, args: [...settings.arguments, ...args] };
}
