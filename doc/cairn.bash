_cairn() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
	COMPREPLY=()
	case $before in
	-x|--command)
		COMPREPLY=($(compgen -W 'overview info histo ls x entries find strings dups props threads bt sites loaders duplicate-classes tree refs roots path paths heap about dom holders top size cut leaks waste collections offheap locks references finalizers threadlocals report dumps use open close tag diff growth trend path-history profile processes attach live sql assert export check help apropos alias history source save index redact bundle set sets note columns why quit' -- "$word"))
		return;;
	--format)
		COMPREPLY=($(compgen -W 'text csv json jsonl md html' -- "$word"))
		return;;
	--csv)
		COMPREPLY=($(compgen -W 'safe raw' -- "$word"))
		return;;
	--sizes)
		COMPREPLY=($(compgen -W 'true mat' -- "$word"))
		return;;
	--process)
		COMPREPLY=($(compgen -W 'PID NAME' -- "$word"))
		return;;
	--live)
		COMPREPLY=($(compgen -W 'PID NAME' -- "$word"))
		return;;
	--progress)
		COMPREPLY=($(compgen -W 'auto always never' -- "$word"))
		return;;
	--spill)
		COMPREPLY=($(compgen -W 'DIR none' -- "$word"))
		return;;
	--start)
		COMPREPLY=($(compgen -W 'overview histo heap leaks threads packages info growth' -- "$word"))
		return;;
	--color)
		COMPREPLY=($(compgen -W 'auto always never' -- "$word"))
		return;;
	--theme)
		COMPREPLY=($(compgen -W 'auto dark light classic8 mono' -- "$word"))
		return;;
	esac
	case $word in
	-*)
		COMPREPLY=($(compgen -W '--command --file --batch --plain --format --csv --output --force --top --javacore --exe --index --no-index --sizes --dump --process --yes --keep --gc --live --progress --threads --mem --spill --start --color --theme --ascii --no-mouse --tour --dump-config --no-config --version --help ' -- "$word"))
		return;;
	esac
	compopt -o filenames
	COMPREPLY=($(compgen -f -- "$word"))
}
complete -F _cairn cairn
