//! What shells complete: the subcommands and options, as the arguments say them, and the names of rings, for
//! which the shell asks `annulus ls --names`.
//!
//! A name may have any character but a slash and control characters, and another user may have chosen it: no
//! shell may expand it.

use clap::Command;
use clap_complete::Shell;

/// The script for this shell. Only bash, zsh and fish complete names.
pub(crate) fn script(shell: Shell, mut program: Command) -> String {
    let name = program.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program, name, &mut script);
    let script = String::from_utf8_lossy(&script);
    let with_names: Vec<_> = program.get_subcommands().filter(|command| takes_rings(command)).collect();
    if with_names.is_empty() {
        return script.into_owned();
    }
    let subcommands: Vec<_> = with_names.iter().map(|command| command.get_name()).collect();
    match shell {
        Shell::Bash => {
            let function = BASH.replace("SUBCOMMANDS", &subcommands.join("|"));
            let function = function.replace("OPTIONS", &options_with_values(&with_names).join("|"));
            let own = script.replace("complete -F _annulus ", "complete -F _annulus_rings ");
            function + &own
        }
        Shell::Zsh => {
            let lines = script.split_inclusive('\n').map(|line| {
                let is_ring = POSITIONS.iter().any(|begin| line.starts_with(begin));
                if is_ring { line.replace(":_default'", ":_annulus_rings'") } else { line.into() }
            });
            let lines: String = lines.collect();
            // Before the lines that are run.
            lines.replacen("\nif [ ", &format!("\n{ZSH}\nif [ "), 1)
        }
        Shell::Fish => script.into_owned() + &FISH.replace("SUBCOMMANDS", &subcommands.join(" ")),
        _ => script.into_owned(),
    }
}

/// Whether it takes names of rings that are in a directory.
fn takes_rings(command: &Command) -> bool {
    let has = |id: &str| command.get_arguments().any(|argument| argument.get_id() == id);
    has("directory") && (has("name") || has("names"))
}

/// The options of these subcommands behind which a value comes, and no name.
fn options_with_values(commands: &[&Command]) -> Vec<String> {
    let all = commands.iter().flat_map(|command| command.get_arguments());
    let valued = all.filter(|argument| argument.get_action().takes_values());
    let mut options: Vec<_> =
        valued.filter_map(|argument| Some(format!("--{}", argument.get_long()?))).collect();
    options.sort();
    options.dedup();
    options
}

/// How the names begin in the script for zsh.
const POSITIONS: [&str; 3] = ["':name -- ", "'::name -- ", "'*::names -- "];

/// (No `compgen -W`: that would expand the names. And no `COMP_WORDS`: bash breaks these at colons, and
/// leaves them quoted. What it puts in place of the last word is what is behind the last such break, or
/// behind an open quote.)
const BASH: &str = r#"# The words of a line without their quotes; what of the last one stays (kept); and a quote that is open.
_annulus_words() {
    local line="$1" character word='' is_word=''
    words=() kept='' open=''
    while [[ -n $line ]]; do
        character="${line:0:1}" line="${line:1}"
        case "$open$character" in
            "''" | '""') open='' ;;
            "'" | '"') open="$character" kept="$word" is_word=1 ;;
            '\' | '"\')
                [[ -z $open || ${line:0:1} == [\\\"\$\`] ]] || word+='\'
                word+="${line:0:1}" line="${line:1}" is_word=1
                ;;
            ' ' | $'\t')
                [[ -z $is_word ]] || words+=("$word")
                word='' kept='' is_word=''
                ;;
            [:=@])
                word+="$character" is_word=1
                [[ $COMP_WORDBREAKS != *"$character"* ]] || kept="$word"
                ;;
            *) word+="$character" is_word=1 ;;
        esac
    done
    words+=("$word")
}

_annulus_rings() {
    _annulus "$@"
    local words kept open cur name path index directory=() quote="'\\''"
    _annulus_words "${COMP_LINE:0:COMP_POINT}"
    [[ ${#words[@]} -gt 2 ]] || return 0
    cur="${words[${#words[@]} - 1]}"
    case "${words[1]}" in SUBCOMMANDS) ;; *) return 0 ;; esac
    case "$cur" in -*) return 0 ;; esac
    case "${words[${#words[@]} - 2]}" in OPTIONS) return 0 ;; esac
    for ((index = 2; index < ${#words[@]} - 1; index++)); do
        case "${words[index]}" in
            --directory) path="${words[index + 1]}" ;;
            --directory=*) path="${words[index]#--directory=}" ;;
            *) continue ;;
        esac
        directory=(--directory "${path/#\~\//$HOME/}")
    done
    COMPREPLY=()
    compopt +o default +o bashdefault 2>/dev/null
    while IFS= read -r name; do
        [[ $name == "$cur"* ]] || continue
        name="${name#"$kept"}"
        case "$open" in
            "'") name="${name//\'/"$quote"}" ;;
            '"') name="$(printf %s "$name" | command sed 's/[\\"$`]/\\&/g')" ;;
            *) printf -v name %q "$name" ;;
        esac
        COMPREPLY+=("$name")
    done < <(command annulus ls --names "${directory[@]}" 2>/dev/null)
}

"#;

const ZSH: &str = r#"_annulus_rings() {
    local -a names directory
    local path_of_names=${(Q)opt_args[--directory]}
    [[ -z $path_of_names ]] || directory=(--directory "${path_of_names/#\~\//$HOME/}")
    names=(${(f)"$(command annulus ls --names $directory 2>/dev/null)"})
    compadd -a names
}
"#;

const FISH: &str = r#"
function __annulus_rings
    set -l words (commandline -opc)
    set -l directory
    for index in (seq 2 (count $words))
        switch $words[$index]
            case --directory
                set directory --directory $words[(math $index + 1)]
            case '--directory=*'
                set directory --directory (string replace -- --directory= '' $words[$index])
        end
    end
    command annulus ls --names (string replace -r '^~/' "$HOME/" -- $directory) 2>/dev/null
end
complete -c annulus -n "__fish_annulus_using_subcommand SUBCOMMANDS" -f -a "(__annulus_rings)"
"#;
